"""How far a batch reached in each partition of its source, and what retention had deleted before it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class Reach(Protocol):
    """What came of one partition."""

    rows: int
    """Messages."""
    lowest: int
    """The first offset."""
    next: int
    """One behind the last offset."""


def done(counts: Mapping[int, Reach]) -> dict[int, int]:
    """By partition the offset up to which everything is done."""
    return {partition: each.next for partition, each in counts.items()}


def trimmed(start: Mapping[int, int], counts: Mapping[int, Reach], *, dense: bool) -> int:
    """How many messages retention had deleted before they were read.

    Args:
        start: By partition where the batch had to begin.
        counts: What came.
        dense: Whether the source gives each offset to a message. Kafka's have holes of their own (marks of
            transactions): there only those before the first one that came are taken for deleted.
    """
    gone = [
        each.next - (start.get(p) or each.lowest) - each.rows if dense else each.lowest - (start.get(p) or each.lowest)
        for p, each in counts.items()
    ]
    return max(0, sum(gone))
