"""What a broker process takes up, looked at now and then, and whether that grows."""

from __future__ import annotations

import os
import statistics
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

BLOCK_BYTES = 512
ALLOWED = {"memory_bytes": 1.10, "descriptors": 1.10, "disk_bytes": 1.25, "p99_ms": 3.0}
"""How many times its early value the late value of a figure may be: segments come and go, and p99 has all that the
machine does in it."""


@dataclass(frozen=True)
class Sample:
    """One look.

    Attributes:
        at_s: Since the beginning.
        p50_ms, p99_ms: Of the messages of the probe since the look before, from publishing to arrival; NaN: none came.
    """

    at_s: float
    memory_bytes: int
    disk_bytes: int
    descriptors: int
    p50_ms: float
    p99_ms: float


class Latencies:
    """Times of the probe's messages; written by its thread, taken by the one that samples."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ms: list[float] = []

    def add(self, ms: float) -> None:
        """One more."""
        with self._lock:
            self._ms.append(ms)

    def take(self) -> tuple[float, float]:
        """p50 and p99 of those since the last call."""
        with self._lock:
            taken, self._ms = sorted(self._ms), []
        if not taken:
            return float("nan"), float("nan")
        return taken[len(taken) // 2], taken[len(taken) * 99 // 100]


def sample(began: float, pid: int, data: Path, latencies: Latencies) -> Sample:
    """Looks at a process and at its folder."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    descriptors = len(os.listdir(f"/proc/{pid}/fd"))
    memory = pages * os.sysconf("SC_PAGE_SIZE")
    return Sample(time.monotonic() - began, memory, disk_bytes(data), descriptors, *latencies.take())


def disk_bytes(folder: Path) -> int:
    """What the files of a folder take up."""
    total = 0
    for file in folder.rglob("*"):
        try:
            total += file.stat().st_blocks * BLOCK_BYTES
        except FileNotFoundError:  # it has just gone
            continue
    return total


def growth(samples: Sequence[Sample], figure: str) -> float:
    """Median of a figure over the last fifth, in medians of the second fifth; the first is for warming up.

    Raises:
        ValueError: fewer than ten samples say nothing.
    """
    if len(samples) < 10:
        raise ValueError(f"{len(samples)} samples are too few to tell growth from chance: run for longer")
    fifth = len(samples) // 5
    early, late = (
        statistics.median(value for one in part if (value := getattr(one, figure)) == value)
        for part in (samples[fifth : 2 * fifth], samples[-fifth:])
    )
    return float(late / early) if early else float("inf") if late else 1.0


def grown(samples: Sequence[Sample]) -> dict[str, float]:
    """Figures that have grown by more than is allowed, and by how much."""
    found = {figure: growth(samples, figure) for figure in ALLOWED}
    return {figure: times for figure, times in found.items() if times > ALLOWED[figure]}
