"""What the latency picture shows: per route the whole histogram, and percentiles over time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lapwing.contracts.clocks import ROUTES, Route
from lapwing.pipeline.report.buckets import bucket_us
from lapwing.pipeline.report.histogram import gather
from lapwing.pipeline.report.tables import read, rows
from lapwing.pipeline.report.time_steps import FINE_SPAN_S, TimeSteps

FINE_READINGS_MAX = 3_000_000
"""More readings than this are not read one by one; the minutes of the table must do."""

_MINUTE_US = 60_000_000


@dataclass(frozen=True, slots=True)
class OverTime:
    """Percentiles per step; NaN where a step has no reading."""

    steps: TimeSteps
    p50_us: NDArray[np.float64]
    p99_us: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RouteFacts:
    """One route: ``value_us`` (ascending) and ``counts`` are its histogram."""

    name: str
    title: str
    count: int
    min_us: float
    max_us: float
    p50_us: float
    p95_us: float
    p99_us: float
    p999_us: float
    value_us: NDArray[np.float64]
    counts: NDArray[np.int64]
    over_time: OverTime

    @property
    def negative(self) -> int:
        """Readings whose end lies before their start: the device's clock runs ahead."""
        return int(self.counts[self.value_us < 0].sum())


_TITLES = {
    "sent->ingress": "device to broker",
    "ingress->appended": "broker to its log",
    "appended->observed": "log to Spark",
    "ingress->observed": "broker to Spark",
    "sent->observed": "device to Spark",
}


def latency_facts(out: Path) -> list[RouteFacts]:
    """Every route that has readings, in the order of the contract.

    Raises:
        ReportError: the table cannot be read.
    """
    table = read(out, "latency", ("minute", "route", "count", "min_us", "max_us", "p50_us", "p99_us", "histogram"))
    if not table.num_rows:
        return []
    minutes = _instants(table["minute"])
    fine = _fine_readings(out, minutes)
    facts = []
    for route in ROUTES:
        here = table.filter(pc.equal(table["route"], route.name))
        if here.num_rows:
            facts.append(_route(route, here, _over_time(route, here, fine)))
    return facts


def _route(route: Route, table: pa.Table, over_time: OverTime) -> RouteFacts:
    histogram = gather(table["histogram"], "bucket", np.zeros(table.num_rows, dtype=np.int64), 1)
    low, high = float(pc.min(table["min_us"]).as_py()), float(pc.max(table["max_us"]).as_py())
    p50, p95, p99, p999 = (
        float(bucket_us(histogram.percentile(share))[0].clip(low, high)) for share in (0.5, 0.95, 0.99, 0.999)
    )
    filled = np.flatnonzero(histogram.counts[0])
    return RouteFacts(
        name=route.name,
        title=_TITLES.get(route.name, route.name),
        count=int(histogram.totals[0]),
        min_us=low,
        max_us=high,
        p50_us=p50,
        p95_us=p95,
        p99_us=p99,
        p999_us=p999,
        value_us=bucket_us((filled + histogram.low).astype(np.float64)),
        counts=histogram.counts[0][filled],
        over_time=over_time,
    )


def _fine_readings(out: Path, minutes: NDArray[np.int64]) -> pa.Table | None:
    """The clocks of all readings when the run is short enough to show it by the second."""
    short = minutes.max() - minutes.min() + _MINUTE_US <= FINE_SPAN_S * 1_000_000
    if not short or not 0 < rows(out, "readings") <= FINE_READINGS_MAX:
        return None
    return read(out, "readings", ("sent_at", "ingress_at", "appended_at", "observed_at"))


def _over_time(route: Route, table: pa.Table, fine: pa.Table | None) -> OverTime:
    columns = () if fine is None else fine.column_names
    if fine is None or route.start.column not in columns or route.end.column not in columns:
        return _by_minute(table)
    known = fine.filter(pc.and_(pc.is_valid(fine[route.start.column]), pc.is_valid(fine[route.end.column])))
    if not known.num_rows:
        return _by_minute(table)
    at_us = _instants(known["ingress_at"])
    took_us = _instants(known[route.end.column]) - _instants(known[route.start.column])
    steps = TimeSteps.over(int(at_us.min()), int(at_us.max()))
    order = np.lexsort((took_us, steps.index(at_us)))
    sorted_us = took_us[order].astype(np.float64)
    ends = np.cumsum(np.bincount(steps.index(at_us), minlength=len(steps.start_us)))
    starts = np.concatenate(([0], ends[:-1]))
    return OverTime(steps, _rank(sorted_us, starts, ends, 0.5), _rank(sorted_us, starts, ends, 0.99))


def _rank(
    values: NDArray[np.float64], starts: NDArray[np.int64], ends: NDArray[np.int64], share: float
) -> NDArray[np.float64]:
    """Nearest rank within each run ``starts..ends`` of sorted values."""
    sizes = ends - starts
    place = starts + np.maximum(np.ceil(sizes * share - 1e-9).astype(np.int64), 1) - 1
    return np.where(sizes > 0, values[np.minimum(place, len(values) - 1)], np.nan)


def _by_minute(table: pa.Table) -> OverTime:
    """The table's own minutes; merged, when there are too many to show, by their histograms."""
    at_us = _instants(table["minute"])
    steps = TimeSteps.over(int(at_us.min()), int(at_us.max()), finest_s=60)
    histograms = gather(table["histogram"], "bucket", steps.index(at_us), len(steps.start_us))
    return OverTime(steps, bucket_us(histograms.percentile(0.5)), bucket_us(histograms.percentile(0.99)))


def _instants(column: pa.ChunkedArray) -> NDArray[np.int64]:
    """Times as microseconds since the epoch."""
    instants: NDArray[np.int64] = column.cast(pa.timestamp("us")).cast(pa.int64()).to_numpy()
    return instants
