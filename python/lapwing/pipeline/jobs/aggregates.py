"""The coverage job's aggregates: how a batch's part is made, and joined with what the table holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce

from pyspark.sql import DataFrame

from lapwing.pipeline.transforms.coverage import bins_of_coverage, coverage, coverage_bins
from lapwing.pipeline.transforms.latency import bins_of_latency, latency, latency_bins
from lapwing.pipeline.transforms.quality import joined_quality, quality
from lapwing.pipeline.transforms.repeats import joined_marks, marks

Transform = Callable[[DataFrame], DataFrame]


def _same(rows: DataFrame) -> DataFrame:
    return rows


@dataclass(frozen=True)
class Aggregate:
    """``part`` of a batch and rows of the table, ``apart`` again, are ``joined`` into complete rows."""

    name: str
    keys: Sequence[str]
    part: Transform
    apart: Transform
    joined: Transform

    def complete(self, part: DataFrame, table: DataFrame | None) -> DataFrame:
        """The rows of the table that ``part`` touches, as they are with it."""
        if table is None:
            return self.joined(part)
        return self.joined(part.unionByName(self.apart(self._touched(table, part))))

    def _touched(self, table: DataFrame, part: DataFrame) -> DataFrame:
        # Null-safe: a channel that nobody reported is a key like any other.
        keys = part.select(*self.keys).distinct().alias("part")
        same = reduce(lambda a, b: a & b, [table[key].eqNullSafe(keys[key]) for key in self.keys])
        return table.join(keys, same, "left_semi")


def aggregates(served_dbm: int) -> tuple[Aggregate, ...]:
    """Those that a batch is written to before ``seen``."""
    places = ("window_start", "tile_x", "tile_y", "network", "channel")
    covered = partial(coverage, served_dbm=served_dbm)
    return (
        Aggregate("coverage", places, coverage_bins, bins_of_coverage, covered),
        Aggregate("latency", ("minute", "route"), latency_bins, bins_of_latency, latency),
        Aggregate("quality", ("device", "minute"), quality, _same, joined_quality),
    )


SEEN = Aggregate("seen", ("device", "boot", "block"), marks, _same, joined_marks)
"""Written last."""
