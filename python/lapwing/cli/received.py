"""Signals that a running broker has received and not acted upon yet."""

from __future__ import annotations

import queue
import signal


class Received:
    """Their numbers, in the order in which they came.

    One SIGHUP stands for all that come while it waits: the SIGTERM behind a storm of them waits for one reload.
    """

    def __init__(self) -> None:
        self._numbers: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._reload_waits = False

    def put(self, number: int) -> None:
        """One more; a signal's handler may call it."""
        if number == signal.SIGHUP:
            if self._reload_waits:
                return
            self._reload_waits = True
        self._numbers.put(number)

    def get(self, timeout_s: float | None = None) -> int | None:
        """The next one, or None when none came in that time; for the main thread, which runs the handlers too."""
        try:
            number = self._numbers.get(timeout=timeout_s)
        except queue.Empty:
            return None
        if number == signal.SIGHUP:
            self._reload_waits = False
        return number
