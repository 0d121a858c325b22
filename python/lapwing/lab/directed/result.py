"""What the experiment compares, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class DirectedPlan:
    """What to compare; the arguments of ``lapwing lab run commands``."""

    out: Path
    devices: int = 150
    seconds: float = 180.0
    rate_hz: float = 1 / 15
    seed: int = 1
    fresh_s: float = 30.0
    samples_wanted: int = 3
    trigger_s: float = 1.0

    def settings(self) -> dict[str, str]:
        """Of the job, for places that are fresh for seconds, not minutes."""
        return {
            "lapwing.fresh_s": str(self.fresh_s),
            "lapwing.samples_wanted": str(self.samples_wanted),
            "lapwing.position_s": str(2 / self.rate_hz),
            "lapwing.expire_s": str(max(5.0, self.fresh_s / 2)),
            "lapwing.rest_s": str(self.fresh_s / 2),
        }


@dataclass(frozen=True, slots=True)
class DirectedResult:
    """What came of it."""

    share_without: float
    share_with: float
    ratio: float
    """Of the mean shares of fresh places."""
    ratio_second_half: float
    """The same of the second half: what phones send ahead at first they lack then."""
    readings_without: int
    readings_with: int
    commands: int
    states: Mapping[str, int]
    executed: int
    executed_twice: int
    reach_p50_ms: float | None
    """From the commit of a command's row to its device."""
    reach_p95_ms: float | None
    batch_p50_s: float | None
    behind_s: float
    """By how much the phones with commands missed their schedule, at worst."""
