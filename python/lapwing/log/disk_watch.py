"""Says once when the data folder's disk is nearly full or slow, and once when it is not any more.

The same when the folder that the broker began with is gone, or another one is in its place: a file that was deleted, or
that something is mounted over, takes what comes as if it were there.

A disk that is full, and one that fails, the node tells itself: it stops acknowledging, or stops. How full it is is
asked in a thread: nobody waits for a disk that hangs, for there are signals to hear and a supervisor to tell of life.
"""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue

from lapwing.log.line import LogLine

LOOK_EVERY_S = 10.0
LOW_BYTES = 512 << 20
LOW_SHARE = 0.05
SLOW_MS = 100.0

Syncs = Callable[[], tuple[int, int]]
"""How often the disk was asked to keep what had come, and the microseconds that took, since the start."""

Usage = Callable[[Path], tuple[int, int]]
"""Bytes in all, and bytes that are free."""


Identity = tuple[int, int]
"""Of a file: its device, and its number there."""


def lock_of(folder: Path) -> Identity | None:
    """Of the file that a broker holds as long as it runs; None: it is not there."""
    try:
        found = (folder / "lock").stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def usage_of(folder: Path) -> tuple[int, int]:
    """Of the file system that a folder lies on."""
    found = shutil.disk_usage(folder)
    return found.total, found.free


def in_thread(work: Callable[[], None]) -> None:
    """Does it beside, and waits for nothing; it holds up no end of the process."""
    threading.Thread(target=work, name="lapwing-disk-room", daemon=True).start()


class DiskWatch:
    """What there is to say of one folder's disk.

    Args:
        folder: The data folder.
        syncs: The broker's two counters, asked every ten seconds; never all its metrics, whose length clients choose.
        usage: How full the disk is.
        clock: Monotonic, in seconds.
        begin: Has that asked.
    """

    def __init__(
        self,
        folder: Path,
        syncs: Syncs,
        usage: Usage = usage_of,
        clock: Callable[[], float] = time.monotonic,
        begin: Callable[[Callable[[], None]], None] = in_thread,
    ) -> None:
        self._folder, self._syncs, self._usage, self._clock, self._begin = folder, syncs, usage, clock, begin
        self._next_at = 0.0
        self._asked_at: float | None = None  # None: nobody waits for an answer
        self._answers: SimpleQueue[tuple[tuple[int, int] | None, Identity | None]] = SimpleQueue()
        self._is_low = self._is_slow = self._is_silent = self._is_gone = False
        self._began_with: Identity | None = None
        self._before = (0, 0)

    def look(self) -> Iterator[LogLine]:
        """What has changed since the last look, if it is time for one."""
        now = self._clock()
        is_time = now >= self._next_at
        if is_time:
            self._next_at = now + LOOK_EVERY_S
            yield from self._ask_for_room(now)
        with suppress(Empty):
            room, lock = self._answers.get_nowait()
            self._asked_at = None
            yield from self._look_at_room(room)
            yield from self._look_at_folder(lock)
        if is_time:
            yield from self._look_at_syncs()

    def _ask_for_room(self, now: float) -> Iterator[LogLine]:
        """One question at a time, however long it takes: a disk that hangs gets no more threads."""
        if self._asked_at is None:
            self._asked_at = now
            try:
                self._begin(self._answer)
            except RuntimeError:  # There is no thread to be had now: asked again the next time.
                self._answers.put((None, self._began_with))
        elif not self._is_silent:
            self._is_silent = True
            text = f"the disk of {self._folder} has not said for {now - self._asked_at:,.0f} s how much room it has"
            yield LogLine("disk", "warning", text)

    def _answer(self) -> None:
        lock = lock_of(self._folder)
        try:
            self._answers.put((self._usage(self._folder), lock))
        except OSError:
            self._answers.put(
                (None, lock)
            )  # the folder is made by the first that is written; what cannot be the node tells

    def _look_at_room(self, answer: tuple[int, int] | None) -> Iterator[LogLine]:
        if self._is_silent:
            self._is_silent = False
            yield LogLine("disk", "warning", f"the disk of {self._folder} says again how much room it has")
        if answer is None:
            return
        total, free = answer
        low_bytes = min(LOW_BYTES, total * LOW_SHARE)
        # Left an eighth above the mark, so that it is not said again and again.
        is_low = free < (low_bytes * 9 / 8 if self._is_low else low_bytes)
        if is_low != self._is_low:
            self._is_low = is_low
            state = "is nearly full" if is_low else "has room again"
            text = f"the disk of {self._folder} {state}: {free >> 20:,} of {total >> 20:,} MiB are free"
            yield LogLine("disk", "warning", text)

    def _look_at_folder(self, lock: Identity | None) -> Iterator[LogLine]:
        self._began_with = self._began_with or lock
        is_gone = lock != self._began_with
        if is_gone == self._is_gone:
            return
        self._is_gone = is_gone
        if not is_gone:
            yield LogLine("disk", "warning", f"the data folder {self._folder} is there again")
            return
        text = (
            f"the data folder {self._folder} is not the one that the broker began with: it was moved or deleted, or "
            "something is mounted over it; what is acknowledged now is not there after a restart"
        )
        yield LogLine("disk", "error", text)

    def _look_at_syncs(self) -> Iterator[LogLine]:
        count, spent_us = self._syncs()
        # They begin anew with each serving of a member of a cluster.
        syncs, took_us = max(count - self._before[0], 0), max(spent_us - self._before[1], 0)
        self._before = (count, spent_us)
        if syncs <= 0:
            return
        mean_ms = took_us / syncs / 1000
        is_slow = mean_ms > (SLOW_MS * 7 / 8 if self._is_slow else SLOW_MS)
        if is_slow != self._is_slow:
            self._is_slow = is_slow
            what = "is slow: acknowledgements wait" if is_slow else "is fast again:"
            yield LogLine("disk", "warning", f"the disk of {self._folder} {what} {mean_ms:,.0f} ms for each sync")
