"""What ``KEY=VALUE`` does to a group's table."""

from __future__ import annotations

import pytest

from lapwing.cli.group_settings import changed
from lapwing.errors import ConfigError


def test_each_assignment_is_made_on_a_copy() -> None:
    table = {"strategy": "lef", "parameters": {"window": 3}, "missed_topic": "m"}
    new = changed(table, ["strategy=c3", "parameters.gain=0.5", "missed_topic=", 'filters=["a/#", "b"]', "workers=2"])
    assert new == {
        "strategy": "c3",
        "parameters": {"window": 3, "gain": "0.5"},
        "filters": ["a/#", "b"],
        "workers": "2",
    }
    assert table["parameters"] == {"window": 3}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("strategy", "is not KEY=VALUE"),
        ("=x", "is not KEY=VALUE"),
        ("a.b.c=x", "is not KEY=VALUE"),
        ("strategy.x=1", "has no keys below it"),
        ("filters=[a", "is not a TOML list"),
    ],
)
def test_what_cannot_be_read_is_said(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said.replace(".", r"\.")):
        changed({"strategy": "lef"}, [text])
