"""Is whatever Python's reader of TOML cannot read one kind of error, so that nothing else ends who reads a file?"""

from __future__ import annotations

import tomllib

import pytest

from lapwing.toml_parse import parse_toml


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("a = " + "[" * 100_000, "too deep"),
        ("a = " + "{b = " * 5_000, "too deep"),
        (".".join("a" * 2_000) + " = 1", "too deep"),
        ("a = " + "1" * 5_000, "a number is too long"),
        ("a = \0", "Invalid value"),
        ("a", "Expected '='"),
    ],
)
def test_what_cannot_be_read(text: str, what: str) -> None:
    with pytest.raises(tomllib.TOMLDecodeError, match=what):
        parse_toml(text)


def test_what_can() -> None:
    assert parse_toml("a.b = [{c = [[1]]}]") == {"a": {"b": [{"c": [[1]]}]}}
    assert parse_toml("") == {}
