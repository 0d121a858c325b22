"""Can a stranger fill the log?"""

from __future__ import annotations

import logging

import pytest

from lapwing.same_origin import seldom
from lapwing.same_origin.seldom import INTERVAL_S, Seldom


class Clock:
    """Time that passes when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


def test_a_kind_has_one_line_in_its_time_and_says_what_was_left_out(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    monkeypatch.setattr(seldom, "time", clock)
    told = Seldom(logging.getLogger("lapwing.test"))
    for number in range(1000):
        told.tell("host", f"line {number}")
        told.tell("site", "another")
    assert caplog.messages == ["line 0", "another"]
    clock.now += INTERVAL_S
    told.tell("host", "later")
    told.tell("host", "too soon")
    assert caplog.messages[2:] == ["later (and 999 more like it before)"]
