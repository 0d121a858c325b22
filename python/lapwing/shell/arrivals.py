"""How many messages have arrived that nobody has waited for yet: what ``wait`` waits on."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Condition

_LOOK_S = 0.1
"""Longest wait at a time, in which a lost connection is not noticed."""


class Arrivals:
    """A counter that any thread adds to and one takes from."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._count = 0

    def add(self) -> None:
        """One more has arrived."""
        with self._changed:
            self._count += 1
            self._changed.notify_all()

    def take(self, count: int, timeout_s: float, hopeless: Callable[[], bool]) -> int:
        """Waits until ``count`` have arrived and takes them; fewer when time is up or no more can come."""
        deadline = time.monotonic() + timeout_s
        with self._changed:
            while self._count < count and (left_s := deadline - time.monotonic()) > 0 and not hopeless():
                self._changed.wait(min(left_s, _LOOK_S))
            taken = min(count, self._count)
            self._count -= taken
            return taken
