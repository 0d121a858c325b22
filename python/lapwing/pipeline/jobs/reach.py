"""How far a batch reached in each partition of its source, and what retention had deleted before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812


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


Oldest = Callable[[], Mapping[int, int]]
"""By partition the first offset that the source still has."""


def holes(rows: DataFrame, start: Mapping[int, int], first: Oldest | None) -> dict[int, int]:
    """The partitions that have lost messages before the first ones of a batch, each with the offset of these.

    Args:
        rows: The batch. Looked at, which reads it once more, where retention has overtaken the job only.
        start: By partition where the batch had to begin.
        first: Asks the source for the first offsets that it still has; None: it would have failed.
    """
    if first is None:
        return {}
    oldest = first()
    overtaken = [p for p, offset in start.items() if offset < oldest.get(p, 0)]
    if not overtaken:
        return {}
    lowest = rows.where(F.col("partition").isin(overtaken)).groupBy("partition").agg(F.min("offset").alias("lowest"))
    return {row["partition"]: row["lowest"] for row in lowest.collect() if row["lowest"] > start[row["partition"]]}


def trimmed(start: Mapping[int, int], counts: Mapping[int, Reach], *, oldest: Oldest | None) -> int:
    """How many messages retention had deleted before they were read.

    Args:
        start: By partition where the batch had to begin; of those that are not named nothing is missing.
        counts: What came.
        oldest: Asked where offsets did not come. None: the source gives each offset to a message. Kafka's have holes of
            their own (marks of transactions, records that were aborted or compacted away): there only those below the
            oldest offset that it still has are taken for deleted.
    """
    if oldest is None:
        gone = [each.next - start.get(p, each.lowest) - each.rows for p, each in counts.items()]
        return max(0, sum(gone))
    held_back = {p: each for p, each in counts.items() if each.lowest > start.get(p, each.lowest)}
    first = oldest() if held_back else {}
    return sum(max(0, min(each.lowest, first.get(p, 0)) - start[p]) for p, each in held_back.items())
