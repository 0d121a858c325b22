"""What is shown where: by hand, in a script, in colour, as JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lapwing.client import Message
from lapwing.errors import ConfigError, LapwingError
from lapwing.shell.screen import Screen

PLAIN = Message("a/b", b"on")
FULL = Message("a", b"\xff\n", 2, True, True, [("x", "1"), ("x", "\x1b")], "t", "back", b"\x00", 9)


@pytest.mark.parametrize(
    ("settings", "message", "line"),
    [
        ({}, PLAIN, "d1 a/b on"),
        ({}, FULL, "d1 a \\xff\\n"),
        ({"chatty": True}, PLAIN, "d1 a/b on"),
        (
            {"chatty": True},
            FULL,
            "d1 a \\xff\\n  (qos 2, retained, dup, x=1, x=\\x1b, content_type=t, response_topic=back,"
            " correlation_data=\\x00, message_expiry_s=9)",
        ),
        ({"colours": True}, PLAIN, "\x1b[36md1\x1b[0m a/b on"),
    ],
)
def test_message(settings: dict[str, bool], message: Message, line: str) -> None:
    said: list[str] = []
    Screen(said.append, pytest.fail, **settings).message("d1", message)
    assert said == [f"{line}\n"]


def test_message_as_json() -> None:
    said: list[str] = []
    Screen(said.append, pytest.fail, as_json=True).message("d\n1", FULL)
    row: dict[str, Any] = json.loads(said[0])
    assert said[0].count("\n") == 1
    assert (row["client"], row["payload_base64"], row["user_properties"]) == (
        "d\n1",
        "/wo=",
        [["x", "1"], ["x", "\x1b"]],
    )


def test_a_script_hears_of_errors_only() -> None:
    said: list[str] = []
    wrong: list[str] = []
    screen = Screen(said.append, wrong.append)
    screen.done("connected")
    screen.error(LapwingError("no", where="here", remedy="write \x1b yes"))
    screen.error(ConfigError("several", problems=[LapwingError("one"), LapwingError("two")]))
    assert said == []
    assert wrong == ["error: no (here): write \\x1b yes\n", "error: one\n", "error: two\n"]
