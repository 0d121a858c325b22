"""One member's day: how fast it works and how far away it is, as steps in time.

Standard library only: every member process reads its own.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Steps:
    """A value that changes at instants; times in milliseconds, the first is 0.

    Args:
        at_ms: When each value begins, ascending.
        values: As many.
    """

    at_ms: Sequence[float]
    values: Sequence[float]

    def value(self, now_ms: float) -> float:
        """The value at an instant; before the first, the first."""
        return self.values[max(0, bisect_right(self.at_ms, now_ms) - 1)]

    def mean(self, until_ms: float) -> float:
        """The value's mean over time, from 0."""
        ends = (*self.at_ms[1:], math.inf)
        spans = (max(0.0, min(end, until_ms) - begin) for begin, end in zip(self.at_ms, ends, strict=True))
        return sum(span * value for span, value in zip(spans, self.values, strict=True)) / until_ms


@dataclass(frozen=True)
class Day:
    """What happens to one member.

    Args:
        speed: Messages of average size per millisecond; 0 while it is paused or stalled.
        round_trip_ms: Both ways of its link together, without jitter.
    """

    speed: Steps
    round_trip_ms: Steps

    def finish_ms(self, start_ms: float, work: float) -> float:
        """When work begun at ``start_ms`` is done; infinite if it never is.

        Args:
            work: In messages of average size.
        """
        speed = self.speed
        step = max(0, bisect_right(speed.at_ms, start_ms) - 1)
        at_ms, left = start_ms, work
        while True:
            end_ms = speed.at_ms[step + 1] if step + 1 < len(speed.at_ms) else math.inf
            now = speed.values[step]
            if now > 0 and at_ms + left / now <= end_ms:
                return at_ms + left / now
            if end_ms == math.inf:
                return math.inf
            left -= (end_ms - at_ms) * now
            at_ms, step = end_ms, step + 1

    def frozen_until_ms(self, now_ms: float) -> float:
        """The end of the pause or stall that it is in at ``now_ms``; ``now_ms`` if in none."""
        speed = self.speed
        step = max(0, bisect_right(speed.at_ms, now_ms) - 1)
        end_ms = now_ms
        while speed.values[step] == 0 and step + 1 < len(speed.at_ms):
            step += 1
            end_ms = speed.at_ms[step]
        return end_ms

    def to_json(self) -> dict[str, list[float]]:
        """Four lists."""
        speed, trip = self.speed, self.round_trip_ms
        return {
            "speed_at_ms": list(speed.at_ms),
            "speed_per_ms": list(speed.values),
            "round_trip_at_ms": list(trip.at_ms),
            "round_trip_ms": list(trip.values),
        }

    @classmethod
    def from_json(cls, document: dict[str, list[float]]) -> Day:
        """What ``to_json`` made."""
        return cls(
            Steps(document["speed_at_ms"], document["speed_per_ms"]),
            Steps(document["round_trip_at_ms"], document["round_trip_ms"]),
        )
