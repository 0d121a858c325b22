"""The knee: the most phones at which an architecture still holds, by a rule that can be read.

A point *holds* when nothing of this has happened:

- a process ended, or a phone could not connect;
- of 10,000 readings that were due, more than one is not with the controller;
- the end-to-end p99 is above three times that at the fewest phones, and by more than 100 ms.

Points that were thrown away say nothing. The knee is the largest number of phones that holds and below which every one
measured holds, too; what the next one broke is why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

LOST_SHARE_MAX = 1e-4
LATENCY_RATIO_MAX = 3.0
LATENCY_SLACK_MS = 100.0


@dataclass(frozen=True)
class Measured:
    """What the rule looks at, of one number of phones.

    Attributes:
        ended: Why the point ended early; empty: it did not.
        thrown_away: Why it does not count; empty: it does.
        due: Readings that were due.
        missing: Of them those that the controller does not have.
        p99_ms: End to end; NaN where nothing arrived.
    """

    devices: int
    ended: str
    thrown_away: str
    due: int
    missing: int
    p99_ms: float


@dataclass(frozen=True)
class Knee:
    """What came of it.

    Attributes:
        devices: The most phones that hold; 0: not even the fewest.
        breaks_at: The fewest that do not; None: all that were measured hold.
        why: What broke there; else how far it is known.
    """

    devices: int
    breaks_at: int | None
    why: str

    def to_json(self) -> dict[str, Any]:
        """As a result has it."""
        return asdict(self)


def gives(point: Measured, first: Measured) -> str:
    """Why a point does not hold; empty: it does.

    Args:
        point: Not thrown away.
        first: That with the fewest phones.
    """
    if point.ended:
        return point.ended
    if point.missing > LOST_SHARE_MAX * point.due:
        return f"{point.missing:,} of {point.due:,} readings lost ({100 * point.missing / point.due:.2g} %)"
    limit_ms = max(LATENCY_RATIO_MAX * first.p99_ms, first.p99_ms + LATENCY_SLACK_MS)
    if not point.p99_ms <= limit_ms:
        return f"p99 end to end {point.p99_ms:,.0f} ms, above {limit_ms:,.0f} ms"
    return ""


def knee(points: Sequence[Measured]) -> Knee:
    """Of one architecture; ``points`` in any order, a number of phones at most once."""
    ordered = sorted(points, key=lambda point: point.devices)
    counting = [point for point in ordered if not point.thrown_away]
    if not counting:
        return Knee(0, None, "no point counts: " + (ordered[0].thrown_away if ordered else "nothing was measured"))
    holds = 0
    for point in counting:
        why = gives(point, counting[0])
        if why:
            return Knee(holds, point.devices, why)
        holds = point.devices
    beyond = [point for point in ordered if point.devices > holds]
    if beyond:
        return Knee(holds, None, f"holds; beyond, {beyond[0].thrown_away}")
    return Knee(holds, None, "holds at every number measured")
