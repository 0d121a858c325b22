"""Per minute and route (a pair of clocks): the distribution of the time between."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from lapwing.contracts.clocks import ROUTES, Route
from lapwing.contracts.tables import LATENCY
from lapwing.pipeline.transforms.groups import Groups, ints, made
from lapwing.pipeline.transforms.histogram import Histograms, bars_of, bucket, bucket_middle
from lapwing.pipeline.transforms.quality import minutes

_SCHEMA = pa.schema(list(LATENCY.arrow_schema()))
_PERCENTILES = {"p50_us": 500, "p95_us": 950, "p99_us": 990, "p999_us": 999}
_BINS = pa.schema(
    [
        _SCHEMA.field("minute"),
        _SCHEMA.field("route"),
        pa.field("bucket", pa.int64()),
        _SCHEMA.field("count"),
        _SCHEMA.field("min_us"),
        _SCHEMA.field("max_us"),
    ]
)


def latency_bins(classified: pa.Table) -> pa.Table:
    """First copies of readings, counted per minute, route and bucket: ``count``, ``min_us``, ``max_us``."""
    first = classified.filter(classified["first"])
    first = first.append_column("minute", minutes(first["ingress_at"]))
    return pa.concat_tables([_route_bins(first, route) for route in ROUTES])


def _route_bins(first: pa.Table, route: Route) -> pa.Table:
    start, end = first[route.start.column], first[route.end.column]
    if start.null_count or end.null_count:
        first = first.filter(pa.compute.and_(start.is_valid(), end.is_valid()))
        start, end = first[route.start.column], first[route.end.column]
    us = ints(end) - ints(start)
    timed = pa.table({"minute": first["minute"], "bucket": bucket(us), "us": us})
    groups = Groups(timed, ["minute", "bucket"])
    ordered = groups.ordered("us")
    columns: dict[str, Any] = {
        "minute": groups.first("minute"),
        "route": [route.name] * len(groups),
        "bucket": groups.first("bucket"),
        "count": groups.sum(np.ones(len(us), dtype=np.int64)),
        "min_us": groups.min(ordered),
        "max_us": groups.max(ordered),
    }
    return made(_BINS, {**columns, "route": pa.array(columns["route"], pa.string())})


def bins_of_latency(rows: pa.Table) -> pa.Table:
    """Rows of ``LATENCY`` taken apart again into the bins of `latency_bins`."""
    parents, buckets, counts = bars_of(rows["histogram"], "bucket")
    kept = {name: rows[name].take(parents) for name in ("minute", "route", "min_us", "max_us")}
    return made(_BINS, {**kept, "bucket": buckets, "count": counts})


def latency(bins: pa.Table) -> pa.Table:
    """Bins, some for the same minute, route and bucket, as rows of ``LATENCY``."""
    once = _once(bins)
    groups = Groups(once, ["minute", "route"], then=["bucket"])
    counts = groups.ordered("count")
    histograms = Histograms(groups, groups.ordered("bucket"), counts)
    low, high = groups.min(groups.ordered("min_us")), groups.max(groups.ordered("max_us"))
    columns: dict[str, Any] = {
        "minute": groups.first("minute"),
        "route": groups.first("route"),
        "count": histograms.totals,
        "min_us": low,
        "max_us": high,
        "histogram": histograms.lists("bucket"),
    }
    for name, per_mille in _PERCENTILES.items():
        middle = bucket_middle(histograms.percentile(per_mille).to_numpy(zero_copy_only=False))
        columns[name] = np.clip(middle, low, high)
    return made(_SCHEMA, columns)


def _once(bins: pa.Table) -> pa.Table:
    groups = Groups(bins, ["minute", "route", "bucket"])
    columns: dict[str, Any] = {name: groups.first(name) for name in ("minute", "route", "bucket")}
    columns["count"] = groups.sum(groups.ordered("count"))
    columns["min_us"] = groups.min(groups.ordered("min_us"))
    columns["max_us"] = groups.max(groups.ordered("max_us"))
    return made(_BINS, columns)
