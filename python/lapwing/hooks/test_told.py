"""Is what a hook raised told with its place, without secrets and in lines of its own?"""

from __future__ import annotations

import pytest

from lapwing.hooks.told import told


def raised(text: object) -> BaseException:
    try:
        raise ValueError(text)
    except ValueError as error:
        return error


def test_the_place_and_the_text_are_there() -> None:
    text = told(raised("the database is gone"), (b"correct horse",))
    assert "test_told.py" in text
    assert text.endswith("ValueError: the database is gone")


@pytest.mark.parametrize("secret", [b"correct horse", b"\xff\x00binary", "schlüssel\n".encode(), b"quo'te"])
def test_secrets_are_hidden(secret: bytes) -> None:
    """As text, as bytes, and as Python shows either."""
    shown = secret.decode(errors="replace")
    for text in (shown, repr(secret), repr(shown), f"{shown}{secret!r}", f"no user with {shown!r}"):
        line = told(raised(text), (b"", secret)).splitlines()[-1]
        assert "***" in line
        for form in (shown, repr(secret)[2:-1], repr(shown)[1:-1]):
            assert form not in line


def test_short_secrets_take_the_text_with_them() -> None:
    assert told(raised("a user"), (b"u",)).endswith("ValueError: ***")


def test_what_led_to_it_is_told_the_same_way() -> None:
    try:
        try:
            raise KeyError("correct horse")
        except KeyError as error:
            raise ValueError("no such user") from error
    except ValueError as error:
        text = told(error, (b"correct horse",))
    assert "ValueError: no such user" in text
    assert "KeyError: '***'" in text


def test_no_line_is_forged() -> None:
    text = told(raised("unknown x\nnotice: SIGHUP: forged\x1b[2J\u202e"))
    assert text.splitlines()[-1] == r"ValueError: unknown x\nnotice: SIGHUP: forged\x1b[2J\u202e"
