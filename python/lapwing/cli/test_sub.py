"""``lapwing sub`` where messages come faster than it prints them."""

from __future__ import annotations

from typing import cast

import pytest

from lapwing.cli import sub
from lapwing.client import Client, Message


class Flood:
    """A client with a message at every moment; each takes a second to print."""

    def __init__(self) -> None:
        self.now = 0.0

    def receive(self, timeout_s: float) -> Message:
        self.now += 1.0
        return Message("t", b"x")

    def monotonic(self) -> float:
        return self.now


def test_it_ends_in_time(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The time was looked at only where nothing came."""
    flood = Flood()
    monkeypatch.setattr(sub, "time", flood)
    sub._Receiver(cast("Client", flood), ["#"], 0, as_json=False)._receive(None, 5.0)
    assert capsys.readouterr().out == "t x\n" * 5
