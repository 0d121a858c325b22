"""How lanes hear that the bridge ends, and how they wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

Say = Callable[[str], None]
"""Takes one line for the operator."""

_ALIVE_S = 1.0


class Abandoned(Exception):  # noqa: N818 (no error: the end of a lane that had no more time)
    """The time to drain is over: what is in hand is left to the broker, or to Kafka, which give it out again."""


class Stopping:
    """Two moments of one bridge: nothing new is taken; and what is in hand is left."""

    def __init__(self) -> None:
        self._draining = threading.Event()
        self._abandoned = threading.Event()

    @property
    def is_draining(self) -> bool:
        """Nothing new is taken."""
        return self._draining.is_set()

    def drain(self) -> None:
        """From now on nothing new is taken."""
        self._draining.set()

    def abandon(self) -> None:
        """From now on nothing is waited for."""
        self._draining.set()
        self._abandoned.set()

    def is_soon(self, timeout_s: float) -> bool:
        """Waits so long, at most, until nothing new is taken; whether it has come to that."""
        return self._draining.wait(timeout_s)

    def check(self) -> None:
        """Raises `Abandoned` when it is time."""
        if self._abandoned.is_set():
            raise Abandoned

    def pause(self, duration_s: float, alive: Callable[[], None]) -> None:
        """Waits for so long, or until it is time; calls ``alive`` each second.

        Raises:
            Abandoned: it is time.
        """
        end = time.monotonic() + duration_s
        while (left_s := end - time.monotonic()) > 0:
            if self._abandoned.wait(min(left_s, _ALIVE_S)):
                raise Abandoned
            alive()


class Waiting:
    """Whether a lane waits, for what, and since when; the operator is told when that changes."""

    def __init__(self, name: str, say: Say) -> None:
        self._name = name
        self._say = say
        self._why = ""
        self._since = 0.0

    @property
    def why(self) -> str:
        """What is waited for; empty: nothing."""
        return self._why

    @property
    def since_s(self) -> float:
        """How long it has waited, in seconds; 0 when it does not."""
        return time.monotonic() - self._since if self._why else 0.0

    def begins(self, why: str) -> None:
        """It waits; said once for each reason."""
        if why == self._why:
            return
        if not self._why:
            self._since = time.monotonic()
        self._why = why
        self._say(f"{self._name} waits: {why}")

    def ends(self) -> None:
        """It goes on."""
        if self._why:
            waited_s = self.since_s
            self._why = ""
            self._say(f"{self._name} goes on after {waited_s:.1f} s")
