"""Spectrum availability per (15 minutes, tile, network, channel, operator): samples, occupancy, signal strength."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lapwing.contracts.tables import COVERAGE
from lapwing.pipeline.transforms.groups import Groups, Ints, floats, ints, made, times
from lapwing.pipeline.transforms.histogram import Histograms, bars_of
from lapwing.pipeline.transforms.tiles import tile_names, tile_xy

WINDOW_US = 15 * 60 * 1_000_000
PARTS_PER_BILLION = 1_000_000_000
SERVED_DBM = -110
"""From this RSRP on a place counts as served, unless the job is told otherwise."""

PLACE = ("window_start", "tile_x", "tile_y", "network", "channel", "operator")
"""The key of a row, as the bins have it: ``tile`` is made of ``tile_x`` and ``tile_y``."""

_SCHEMA = pa.schema(list(COVERAGE.arrow_schema()))
_PERCENTILES = {"rsrp_p10_dbm": 100, "rsrp_p50_dbm": 500, "rsrp_p90_dbm": 900}
_SUMS = ("samples", "occupied_count", "occupied_sum_ppb", "rsrp_count")
_BINS = pa.schema(
    [*(_SCHEMA.field(name) for name in PLACE), pa.field("rsrp_dbm", pa.int32())]
    + [_SCHEMA.field(name) for name in (*_SUMS, "last_seen")]
)


def coverage_bins(classified: pa.Table) -> pa.Table:
    """First copies of readings with a position, summed per key and RSRP value.

    ``occupied_share`` is summed in whole parts per billion: the same in whatever order rows come.
    """
    placed = classified.filter(pc.and_(classified["first"], classified["lat"].is_valid()))
    x, y = tile_xy(floats(placed["lat"]), floats(placed["lon"]))
    measured = ints(placed["measured_at"])
    share = floats(placed["occupied_share"])
    knows_share = ~np.isnan(share)
    per_row = {
        "window_start": times(measured - measured % WINDOW_US),
        "tile_x": x,
        "tile_y": y,
        "network": placed["network"],
        "channel": placed["channel"],
        "operator": placed["operator"],
        "rsrp_dbm": placed["rsrp_dbm"],
        "samples": np.ones(placed.num_rows, dtype=np.int64),
        "occupied_count": knows_share.astype(np.int64),
        "occupied_sum_ppb": np.rint(np.where(knows_share, share, 0) * PARTS_PER_BILLION).astype(np.int64),
        "rsrp_count": ints(placed["rsrp_dbm"].is_valid()),
        "last_seen": placed["measured_at"],
    }
    return _once(made(_BINS, per_row))


def bins_of_coverage(rows: pa.Table) -> pa.Table:
    """Rows of ``COVERAGE`` taken apart again into the bins of `coverage_bins`.

    A row gives one bin without RSRP, which has its sums, and one per bar of its histogram, which has that bar's.
    """
    keys = {name: rows[name] for name in (*PLACE, "last_seen")}
    sums = {name: rows[name] for name in ("samples", "occupied_count", "occupied_sum_ppb")}
    unheard = {**keys, **sums, "rsrp_dbm": pa.nulls(rows.num_rows, pa.int32()), "rsrp_count": _zeros(rows.num_rows)}
    parents, values, counts = bars_of(rows["rsrp_histogram"], "dbm")
    none = _zeros(len(parents))
    bars = {name: column.take(parents) for name, column in keys.items()} | dict.fromkeys(sums, none)
    return pa.concat_tables([made(_BINS, unheard), made(_BINS, {**bars, "rsrp_dbm": values, "rsrp_count": counts})])


def coverage(bins: pa.Table, *, served_dbm: int = SERVED_DBM) -> pa.Table:
    """Bins, some for the same key and RSRP value, as rows of ``COVERAGE``."""
    groups = Groups(_once(bins), PLACE, then=["rsrp_dbm"])
    dbm, heard = groups.ordered("rsrp_dbm"), groups.ordered("rsrp_count")
    histograms = Histograms(groups, dbm, heard)
    columns: dict[str, Any] = {name: groups.first(name) for name in PLACE}
    columns |= {name: groups.sum(groups.ordered(name)) for name in _SUMS}
    rsrp_sum = groups.sum(dbm * heard)
    columns |= {
        "tile": pa.array(tile_names(ints(columns["tile_x"]), ints(columns["tile_y"])), pa.string()),
        "occupied_share_mean": _share(columns["occupied_sum_ppb"], columns["occupied_count"], PARTS_PER_BILLION),
        "rsrp_sum_dbm": rsrp_sum,
        "rsrp_mean_dbm": _share(rsrp_sum, columns["rsrp_count"]),
        "served_share": _share(groups.sum(np.where(dbm >= served_dbm, heard, 0)), columns["rsrp_count"]),
        "served_dbm": np.full(len(groups), served_dbm),
        "last_seen": times(groups.max(groups.ordered("last_seen"))),
        "rsrp_histogram": histograms.lists("dbm"),
    }
    columns |= {name: histograms.percentile(per_mille) for name, per_mille in _PERCENTILES.items()}
    return made(_SCHEMA, columns)


def _once(bins: pa.Table) -> pa.Table:
    groups = Groups(bins, [*PLACE, "rsrp_dbm"])
    columns: dict[str, Any] = {name: groups.first(name) for name in (*PLACE, "rsrp_dbm")}
    columns |= {name: groups.sum(groups.ordered(name)) for name in _SUMS}
    columns["last_seen"] = times(groups.max(groups.ordered("last_seen")))
    return made(_BINS, columns)


def _share(part: Ints, whole: Ints, unit: int = 1) -> pa.Array:
    """``part / whole / unit``; null where ``whole`` is 0."""
    return pa.array(part / np.maximum(whole, 1) / unit, mask=whole == 0)


def _zeros(count: int) -> pa.Array:
    return pa.array(np.zeros(count, dtype=np.int64))
