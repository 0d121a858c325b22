"""What is wrong is told at once and at a bounded length, whatever was sent: over HTTP that may be a stranger's."""

from __future__ import annotations

from typing import Any

import pytest

from lapwing.config import problems
from lapwing.config.one_group import parse_group
from lapwing.config.secret_text import without_secrets
from lapwing.config.variables import no_settings
from lapwing.errors import ConfigError


def told(table: dict[str, Any]) -> list[str]:
    """The lines for a table of a group."""
    with pytest.raises(ConfigError) as caught:
        parse_group("g", table, "body")
    return caught.value.lines()


@pytest.mark.parametrize("value", ["x" * 100_000, ["x" * 50_000] * 2])
def test_a_long_value_is_looked_through_in_part_only(value: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """The patterns for secrets take the square of a text's length: 70,000 letters stopped HTTP for hours."""
    looked_at: list[int] = []

    def noting(text: str) -> str:
        looked_at.append(len(text))
        return without_secrets(text)

    monkeypatch.setattr(problems, "without_secrets", noting)
    (line,) = told({"strategy": value})
    assert looked_at[0] < 1000
    assert "xxx..." in line
    assert len(line) < 1000


def test_a_password_is_hidden_though_its_host_is_cut_off() -> None:
    (line,) = told({"strategy": "tcp://me:" + "horse" * 1000 + "@host"})
    assert "tcp://***" in line
    assert "horse" not in line


def test_a_hundred_problems_are_enough() -> None:
    lines = told({"rules": [{}] * 1000})
    assert len(lines) == 101
    assert "900 more problems" in lines[-1]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("LAPWING_BROKER_SHARDS", "did you mean LAPWING_BROKER__SHARDS?"),
        ("LAPWING_LIMITS_QUEUE_BYTES_MAX", "did you mean LAPWING_LIMITS__QUEUE_BYTES_MAX?"),
        ("LAPWING_BROKER_SHRADS", "did you mean LAPWING_BROKER__SHARDS?"),
        ("LAPWING_LISTNERS", "a setting is LAPWING_TABLE__KEY"),
        ("LAPWING_BROKER__SHARDS", ""),
        *[(f"LAPWING_{name}", "") for name in ("URL", "HTTP_URL", "CA", "CONFIG", "PASSWORD", "USERNAME", "TOKEN")],
        *[(f"LAPWING_{name}", "") for name in ("SPARK_HOME", "KAFKA_JARS", "KAFKA_PASSWORD", "CLIENT_ID")],
        ("PATH", ""),
    ],
)
def test_a_variable_that_was_meant_as_a_setting_is_named(name: str, said: str) -> None:
    assert no_settings([name]) == ([f"the variable {name} sets nothing: {said}"] if said else [])
