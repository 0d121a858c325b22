"""A client of the shell, on a thread of its own."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import pytest

import lapwing
from lapwing.client import Message
from lapwing.errors import LapwingError
from lapwing.shell.link import _BATCH, Link
from lapwing.shell.verbs import Connect


class Heard:
    """Notes what a link says of itself."""

    def __init__(self) -> None:
        self.lost: list[LapwingError] = []

    def on_message(self, link: Link, message: Message) -> None:
        """Nobody publishes."""

    def on_lost(self, link: Link, error: LapwingError) -> None:
        """Notes it."""
        self.lost.append(error)


def test_a_link_that_was_closed_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long whoever closes it takes to hear that it is: does its thread end without a word?"""
    heard = Heard()
    with lapwing.Broker(shards=1) as broker:
        link = Link(Connect("d1"), broker.url, 30.0, heard)
        link.open()
        result = Future.result

        def late(future: Future[Any], timeout: float | None = None) -> object:
            answer = result(future, timeout)
            link._thread.join(30)
            return answer

        monkeypatch.setattr(Future, "result", late)
        link.close()
        assert not link._thread.is_alive()
    assert heard.lost == []


def test_a_flood_does_not_hold_a_goodbye_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where messages come faster than they are shown: is it said all the same, once the timeout is over?"""
    with lapwing.Broker(shards=1) as broker:
        link = Link(Connect("d1"), broker.url, 30.0, Heard())
        link.open()
        monkeypatch.setattr(Link, "_receive", lambda *_: _BATCH)
        monkeypatch.setattr(link, "_timeout_s", 0.05)
        link.close()
        link._thread.join(30)
        assert not link._thread.is_alive()
