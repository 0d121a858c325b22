"""Trying again after a connection is lost, with a growing pause, and saying so: for commands that go on and on."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from lapwing._core import CoreError
from lapwing.cli.common import notice
from lapwing.cli.http_api import HttpAnswerError
from lapwing.cli.standard_streams import check_reader
from lapwing.errors import LapwingError, TimedOutError

Answer = TypeVar("Answer")

PAUSE_FIRST_S = 0.5
PAUSE_MAX_S = 30.0
_LOST = frozenset({"lost", "unreachable", "timed_out"})
_WITH_REASON = frozenset({"refused", "disconnected"})
# Unavailable, busy, shutting down, quota, an operator's kick, connection rate: a broker that may want us later. Not a
# session taken over: two who come again by turns would throw each other out for ever.
_PASSING = frozenset({0x88, 0x89, 0x8B, 0x8D, 0x97, 0x98, 0x9C, 0x9F})
# A broker that stops or is short of memory still answers for a while; so does a proxy that has lost it.
_PASSING_STATUS = frozenset({429, 502, 503, 504})


def is_passing(error: LapwingError) -> bool:
    """Whether the same may succeed later: nobody answers, or who answers says so."""
    cause = error.__cause__
    if isinstance(cause, CoreError):
        return cause.code in _LOST or (cause.code in _WITH_REASON and cause.evidence.get("reason") in _PASSING)
    if isinstance(cause, HttpAnswerError):
        return cause.status in _PASSING_STATUS
    return isinstance(error, TimedOutError) or isinstance(cause, OSError | http.client.HTTPException)


class Again:
    """The pauses of one command.

    Args:
        what: Whose connection it is: ``"the broker at tcp://..."``.
        until: When to give up, on the monotonic clock; None: never.
        missed: What to say, once it is there again, of what came meanwhile.
    """

    def __init__(self, what: str, *, until: float | None = None, missed: str = "") -> None:
        self._what, self._until, self._missed = what, until, missed
        self._pause_s = PAUSE_FIRST_S
        self._lost_at: float | None = None
        self._rest = threading.Event()  # never set: a wait that Ctrl-C ends

    def lost(self, error: LapwingError) -> bool:
        """Says that it is lost, and waits; False: there is no time left to try again.

        Raises:
            LapwingError: it is not worth another try.
        """
        if not is_passing(error):
            raise error
        now = time.monotonic()
        if self._until is not None and now >= self._until:
            return False
        if self._lost_at is None:
            self._lost_at = now
        pause_s = self._pause_s if self._until is None else min(self._pause_s, self._until - now)
        notice(f"{self._what}: {error.what}; trying again in {pause_s:.1f} s")
        self._rest.wait(pause_s)
        check_reader()
        self._pause_s = min(self._pause_s * 2, PAUSE_MAX_S)
        return True

    def found(self) -> None:
        """Says that it is there again, if it was lost."""
        if self._lost_at is not None:
            away_s = time.monotonic() - self._lost_at
            notice(f"{self._what}: connected again after {away_s:.1f} s{self._missed}")
            self._lost_at, self._pause_s = None, PAUSE_FIRST_S


def watched(ask: Callable[[], Answer], interval_s: float, again: Again) -> Iterator[Answer]:
    """What ``ask`` answers, again and again: a broker that is gone is waited for once it has answered.

    Args:
        ask: Asks the broker.
        interval_s: Between two answers.
        again: The pauses while it does not answer.

    Raises:
        LapwingError: the first answer did not come, or another try is worth nothing.
    """
    pause = threading.Event()  # never set: a wait that Ctrl-C ends
    yield ask()
    while True:
        pause.wait(interval_s)
        check_reader()
        try:
            answer = ask()
        except LapwingError as error:
            again.lost(error)
            continue
        again.found()
        yield answer
