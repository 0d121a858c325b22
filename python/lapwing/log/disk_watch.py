"""Says once when the data folder's disk is nearly full or slow, and once when it is not any more.

A disk that is full, and one that fails, the node tells itself: it stops acknowledging, or stops.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from lapwing.log.line import LogLine

LOOK_EVERY_S = 10.0
LOW_BYTES = 512 << 20
LOW_SHARE = 0.05
SLOW_MS = 100.0

Syncs = Callable[[], tuple[int, int]]
"""How often the disk was asked to keep what had come, and the microseconds that took, since the start."""

Usage = Callable[[Path], tuple[int, int]]
"""Bytes in all, and bytes that are free."""


def usage_of(folder: Path) -> tuple[int, int]:
    """Of the file system that a folder lies on."""
    found = shutil.disk_usage(folder)
    return found.total, found.free


class DiskWatch:
    """What there is to say of one folder's disk.

    Args:
        folder: The data folder.
        syncs: The broker's two counters, asked every ten seconds; never all its metrics, whose length clients choose.
        usage: How full the disk is.
        clock: Monotonic, in seconds.
    """

    def __init__(
        self,
        folder: Path,
        syncs: Syncs,
        usage: Usage = usage_of,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder, self._syncs, self._usage, self._clock = folder, syncs, usage, clock
        self._next_at = 0.0
        self._is_low = self._is_slow = False
        self._before = (0, 0)

    def look(self) -> Iterator[LogLine]:
        """What has changed since the last look, if it is time for one."""
        now = self._clock()
        if now < self._next_at:
            return
        self._next_at = now + LOOK_EVERY_S
        yield from self._look_at_room()
        yield from self._look_at_syncs()

    def _look_at_room(self) -> Iterator[LogLine]:
        try:
            total, free = self._usage(self._folder)
        except OSError:
            return  # the folder is made by the first that is written; what cannot be written the node tells
        low_bytes = min(LOW_BYTES, total * LOW_SHARE)
        # Left an eighth above the mark, so that it is not said again and again.
        is_low = free < (low_bytes * 9 / 8 if self._is_low else low_bytes)
        if is_low != self._is_low:
            self._is_low = is_low
            state = "is nearly full" if is_low else "has room again"
            text = f"the disk of {self._folder} {state}: {free >> 20:,} of {total >> 20:,} MiB are free"
            yield LogLine("disk", "warning", text)

    def _look_at_syncs(self) -> Iterator[LogLine]:
        count, spent_us = self._syncs()
        syncs, took_us = count - self._before[0], spent_us - self._before[1]
        self._before = (count, spent_us)
        if syncs <= 0:
            return
        mean_ms = took_us / syncs / 1000
        is_slow = mean_ms > (SLOW_MS * 7 / 8 if self._is_slow else SLOW_MS)
        if is_slow != self._is_slow:
            self._is_slow = is_slow
            what = "is slow: acknowledgements wait" if is_slow else "is fast again:"
            yield LogLine("disk", "warning", f"the disk of {self._folder} {what} {mean_ms:,.0f} ms for each sync")
