"""A process and all that came of it: ended together, whatever sessions its children have made for themselves.

Spark's JVM is in a session of its own, so that Ctrl-C does not end it in the midst of a batch; a signal to its
parent's group does not reach it either, and nor does one reach what it has started.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress

from lapwing.lab.crowdsourcing import usage

_LOOK_S = 0.02
KILLED_S = 10.0
"""For the kernel to be done with a process that was killed."""


class Family:
    """The descendants of ``root``; `look` while they have their parents: an orphan is nobody's child any more."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._known: dict[int, int] = {}
        self.look()

    def look(self) -> None:
        """Takes in those that are there now."""
        entries = usage.look()
        started = {entry.pid: entry.started for entry in entries}
        roots = {pid for pid, at in self._known.items() if started.get(pid) == at} | {self._root}
        for pid in usage.descendants(entries, roots):
            self._known[pid] = started[pid]

    def left(self) -> list[int]:
        """Those that still run; a number that another process has now is not one of them."""
        started = {entry.pid: entry.started for entry in usage.look() if not entry.ended}
        return [pid for pid, at in self._known.items() if started.get(pid) == at]

    def end(self, patience_s: float) -> None:
        """Waits until all have ended, once their parent has; after ``patience_s`` kills those that have not."""
        self._wait(patience_s)
        self.look()
        for pid in self.left():
            with suppress(ProcessLookupError):  # it has ended meanwhile
                os.kill(pid, signal.SIGKILL)
        self._wait(KILLED_S)

    def _wait(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while self.left() and time.monotonic() < deadline:
            time.sleep(_LOOK_S)
