"""Whether the generator kept its schedule: a point at which it did not says something about it, and nothing else.

It is judged by when it takes a reading up, of those due in the time that is measured. What broker, connection and
window do then is their doing: it is in the latency, which begins when the reading was due, and in the loss.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

LATE_MS = 100.0
"""A reading that the generator takes up so much after it was due has missed its schedule."""

MISSED_SHARE_MAX = 0.01
"""More than this share of the readings: the point is thrown away."""


@dataclass(frozen=True)
class Schedule:
    """How the generator kept its schedule.

    Attributes:
        due: Readings that were due while it was measured.
        taken_up: Of them those that it took up, to be sent as soon as broker and connection allow.
        late: Of them those that it took up more than ``LATE_MS`` after they were due.
        held: Of them those that waited because as much was unanswered as its memory takes: the broker's slowness.
        late_p99_ms: 99 of 100 were taken up no later than this after they were due.
    """

    due: int
    taken_up: int
    late: int
    held: int
    late_p50_ms: float
    late_p99_ms: float
    late_max_ms: float

    @classmethod
    def of(cls, due: int, kept: Mapping[str, Any]) -> Schedule:
        """From ``schedule`` of the fleet's report."""
        late_us = kept["late_us"]
        counts = (kept["taken_up"], kept["late"], kept["held"])
        return cls(due, *counts, *(late_us[name] / 1000 for name in ("p50", "p99", "max")))

    @property
    def never(self) -> int:
        """Readings that it did not take up at all."""
        return self.due - self.taken_up

    @property
    def missed_share(self) -> float:
        """Of what was due what it took up late, or not at all."""
        return (self.late + self.never) / max(1, self.due)

    @property
    def missed(self) -> str:
        """Why the point does not count; empty: it does."""
        if self.missed_share <= MISSED_SHARE_MAX:
            return ""
        return (
            f"the generator was late: of {self.due:,} readings it sent {self.late:,} more than {LATE_MS:.0f} ms late "
            f"(p99 {self.late_p99_ms:,.0f} ms), and {self.never:,} not at all"
        )

    def to_json(self) -> dict[str, Any]:
        """As a row has it."""
        return {
            "due": self.due,
            "late": self.late,
            "never": self.never,
            "held": self.held,
            "late_p50_ms": round(self.late_p50_ms, 3),
            "late_p99_ms": round(self.late_p99_ms, 3),
            "late_max_ms": round(self.late_max_ms, 3),
            "missed": self.missed,
        }
