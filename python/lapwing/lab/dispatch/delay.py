"""What a link holds back: pieces that leave in order, each after half a round trip and its jitter.

Standard library only; used by both links.
"""

from __future__ import annotations

import heapq
import json
import math
import random
import time
from array import array
from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

from lapwing.lab.dispatch.books import Clock
from lapwing.lab.dispatch.day import Steps

Piece = TypeVar("Piece")

JITTER = 0.1
"""Mean of the exponential jitter, as a share of the way."""


class Delays(Generic[Piece]):
    """Pieces under way on all links, both directions.

    Args:
        trips: Each link's round trip in milliseconds.
        seed: Of the jitter.
    """

    def __init__(self, trips: Sequence[Steps], seed: int) -> None:
        self._trips = trips
        self._clock = Clock(0)
        self._has_started = False
        self._random = random.Random(seed)  # noqa: S311 (jitter, no secret)
        self._last_ms = [-math.inf] * (2 * len(trips))
        self._heap: list[tuple[float, int, Piece]] = []
        self._pushed = 0
        self._late_us = array("f")
        self._base_ns = time.monotonic_ns()
        self._cpu_s = time.process_time()

    def start(self, start_ns: int) -> None:
        """The trace begins; until then every link is as it is at its beginning."""
        self._clock = Clock(start_ns)
        self._has_started = True
        self._cpu_s = time.process_time()
        self._late_us = array("f")

    def _now_ms(self) -> float:
        return (time.monotonic_ns() - self._base_ns) / 1e6

    def push(self, link: int, is_back: bool, piece: Piece) -> None:
        """Takes a piece that has come just now."""
        now_ms = self._now_ms()
        at_ms = self._clock.now_ms() if self._has_started else 0.0
        way_ms = self._trips[link].value(at_ms) / 2 * (1 + self._random.expovariate(1 / JITTER))
        lane = 2 * link + is_back
        self._last_ms[lane] = due_ms = max(self._last_ms[lane], now_ms + way_ms)
        self._pushed += 1
        heapq.heappush(self._heap, (due_ms, self._pushed, piece))

    def wait_s(self) -> float | None:
        """Until the next is due; None: nothing is under way."""
        return max(0.0, (self._heap[0][0] - self._now_ms()) / 1e3) if self._heap else None

    def due(self) -> Iterator[Piece]:
        """Those that are due, in order."""
        now_ms = self._now_ms()
        while self._heap and self._heap[0][0] <= now_ms:
            due_ms, _, piece = heapq.heappop(self._heap)
            self._late_us.append((now_ms - due_ms) * 1e3)
            yield piece

    def report_json(self) -> str:
        """How many pieces went, and how late they were: what the link itself adds to a way."""
        spent_s = time.process_time() - self._cpu_s
        late = sorted(self._late_us) or [0.0]
        return json.dumps(
            {
                "pieces": len(self._late_us),
                "cpu_s": spent_s,
                "late_p50_us": round(late[len(late) // 2], 1),
                "late_p99_us": round(late[len(late) * 99 // 100], 1),
            }
        )
