"""Whether the generator kept its schedule: a point at which it did not says something about it, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

LATE_MS = 100.0
"""A reading that the generator sends so much after it was due has missed its schedule."""

MISSED_SHARE_MAX = 0.01
"""More than this share of the readings: the point is thrown away."""


@dataclass(frozen=True)
class Schedule:
    """How the generator kept its schedule.

    Attributes:
        due: Readings of the schedule.
        sent: Of them those that went out.
        late_p99_ms: 99 of 100 went out no later than this after they were due.
    """

    due: int
    sent: int
    late_p50_ms: float
    late_p99_ms: float
    late_max_ms: float

    @classmethod
    def of(cls, due: int, fleet: Mapping[str, Any]) -> Schedule:
        """From the fleet's report."""
        late_us = fleet["late_us"]
        return cls(due, fleet["sent"], *(late_us[name] / 1000 for name in ("p50", "p99", "max")))

    @property
    def missed(self) -> str:
        """Why the point does not count; empty: it does."""
        unsent = self.due - self.sent
        if unsent > MISSED_SHARE_MAX * self.due:
            return f"the generator sent {unsent:,} of {self.due:,} readings not at all"
        if self.late_p99_ms > LATE_MS:
            return (
                f"the generator was late: more than 1 % of its readings by more than {LATE_MS:.0f} ms "
                f"(p99 {self.late_p99_ms:,.0f} ms)"
            )
        return ""

    def to_json(self) -> dict[str, Any]:
        """As a row has it."""
        return {
            "late_p50_ms": round(self.late_p50_ms, 3),
            "late_p99_ms": round(self.late_p99_ms, 3),
            "late_max_ms": round(self.late_max_ms, 3),
            "missed": self.missed,
        }
