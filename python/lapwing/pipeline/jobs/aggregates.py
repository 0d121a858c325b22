"""The coverage job's aggregates: how a batch's part is made, and joined with what the table holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from lapwing.pipeline.transforms.coverage import PLACE, bins_of_coverage, coverage, coverage_bins
from lapwing.pipeline.transforms.groups import touched
from lapwing.pipeline.transforms.latency import bins_of_latency, latency, latency_bins
from lapwing.pipeline.transforms.places import PLACE as PLACES_KEY
from lapwing.pipeline.transforms.places import joined_whereabouts, places, samples, samples_of_places, whereabouts
from lapwing.pipeline.transforms.quality import joined_quality, quality

Transform = Callable[[pa.Table], pa.Table]


def _same(rows: pa.Table) -> pa.Table:
    return rows


@dataclass(frozen=True)
class Aggregate:
    """``part`` of classified rows, and rows of the table taken ``apart``, are ``joined`` into complete rows."""

    name: str
    keys: Sequence[str]
    """The first one is a time or a tile: rows of the table with others cannot be touched."""
    part: Transform
    apart: Transform
    joined: Transform

    def complete(self, parts: pa.Table, stored: pa.Table) -> pa.Table:
        """The rows that ``parts`` touch, as they are with them.

        Args:
            parts: Of any number of tasks.
            stored: Rows of the table, at least those with a key of ``parts``.
        """
        rows = stored.filter(pa.array(touched(parts, stored, self.keys)))
        return self.joined(pa.concat_tables([parts, self.apart(rows)]))


def aggregates(served_dbm: int) -> tuple[Aggregate, ...]:
    """Coverage, latency and quality."""
    covered = partial(coverage, served_dbm=served_dbm)
    return (
        Aggregate("coverage", PLACE, coverage_bins, bins_of_coverage, covered),
        Aggregate("latency", ("minute", "route"), latency_bins, bins_of_latency, latency),
        Aggregate("quality", ("minute", "device"), quality, _same, joined_quality),
    )


OF_CONTROLLER = (
    Aggregate("places", PLACES_KEY, samples, samples_of_places, places),
    Aggregate("whereabouts", ("device",), whereabouts, _same, joined_whereabouts),
)
"""What the controller has besides."""

PARTS: dict[str, Transform] = {each.name: each.part for each in (*aggregates(0), *OF_CONTROLLER)}
"""What a Spark task does; thresholds matter when parts are joined only."""
