"""What the coverage picture shows, read from the ``coverage`` table: per layer the tiles and their values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lapwing.pipeline.report.histogram import gather
from lapwing.pipeline.report.map_frame import Frame, frame
from lapwing.pipeline.report.tables import read

COLUMNS = (
    "window_start", "tile_x", "tile_y", "network", "operator", "samples", "occupied_count", "occupied_sum_ppb",
    "rsrp_count", "served_dbm", "last_seen", "rsrp_histogram",
)  # fmt: skip
NETWORKS_SHOWN_MAX = 10
"""One large, the others small: five operators with two networks each."""
_BETWEEN = "\x1f"
_PPB = 1e9


@dataclass(frozen=True, slots=True)
class Layer:
    """Tiles of the map, one entry per tile.

    Attributes:
        name: The network that the layer shows, and its operator.
        x, y: Columns and rows at the frame's zoom.
        samples: Readings.
        rsrp_p50_dbm: Median RSRP; NaN where no reading knew it.
        occupied_share: Mean share of time occupied; NaN where no reading knew it.
    """

    name: str
    x: NDArray[np.int64]
    y: NDArray[np.int64]
    samples: NDArray[np.int64]
    rsrp_p50_dbm: NDArray[np.float64]
    occupied_share: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class NetworkFacts:
    """Totals of one network, all tiles."""

    name: str
    samples: int
    tiles: int
    samples_per_tile_p50: int
    samples_per_tile_max: int
    rsrp_p10_dbm: float
    rsrp_p50_dbm: float
    rsrp_p90_dbm: float
    served_share: float
    occupied_share: float


@dataclass(frozen=True, slots=True)
class CoverageFacts:
    """Everything the picture and the page say about coverage."""

    frame: Frame
    networks: list[Layer]
    """Those with most readings, most first; a map shows one of them, for a strength of one says nothing of another."""
    networks_left_out: int
    totals: list[NetworkFacts]
    samples: int
    rsrp_known: int
    tiles: int
    tiles_outside: int
    served_dbm: int
    first: datetime
    last: datetime


def coverage_facts(out: Path, aspect: float) -> CoverageFacts | None:
    """Reads the table; None when it has no rows.

    Args:
        out: Folder that holds ``tables/coverage``.
        aspect: Width over height of the map.
    Raises:
        ReportError: the table cannot be read.
    """
    table = read(out, "coverage", COLUMNS)
    if not table.num_rows:
        return None
    x, y, samples = _whole(table, "tile_x"), _whole(table, "tile_y"), _whole(table, "samples")
    shown = frame(x, y, samples, aspect)
    inside = shown.holds(x // shown.merged, y // shown.merged)
    names, network = _networks(table)
    kept = pc.filter(table, pa.array(inside))
    layers = [_layer(name, kept.filter(pa.array(network[inside] == code)), shown) for code, name in enumerate(names)]
    layers = sorted(
        (layer for layer in layers if len(layer.x)), key=lambda layer: (-int(layer.samples.sum()), layer.name)
    )
    return CoverageFacts(
        frame=shown,
        networks=layers[:NETWORKS_SHOWN_MAX],
        networks_left_out=max(0, len(layers) - NETWORKS_SHOWN_MAX),
        totals=_totals(table, names, network),
        samples=int(samples.sum()),
        rsrp_known=int(_whole(table, "rsrp_count").sum()),
        tiles=_distinct(x, y),
        tiles_outside=_distinct(x[~inside], y[~inside]),
        served_dbm=int(_whole(table, "served_dbm")[-1]),
        first=pc.min(table["window_start"]).as_py(),
        last=pc.max(table["last_seen"]).as_py(),
    )


def _layer(name: str, table: pa.Table, shown: Frame) -> Layer:
    x = _whole(table, "tile_x") // shown.merged
    y = _whole(table, "tile_y") // shown.merged
    tile = x * 2**shown.zoom + y
    places, key = np.unique(tile, return_inverse=True)
    count = len(places)
    known = np.bincount(key, weights=_whole(table, "occupied_count"), minlength=count)
    summed = np.bincount(key, weights=_whole(table, "occupied_sum_ppb"), minlength=count)
    share = np.where(known > 0, summed / _PPB / np.maximum(known, 1), np.nan)
    samples = np.bincount(key, weights=_whole(table, "samples"), minlength=count).astype(np.int64)
    median = gather(table["rsrp_histogram"], "dbm", key, count).percentile(0.5)
    return Layer(name, places // 2**shown.zoom, places % 2**shown.zoom, samples, median, share)


def _totals(table: pa.Table, names: list[str], network: NDArray[np.int64]) -> list[NetworkFacts]:
    histograms = gather(table["rsrp_histogram"], "dbm", network, len(names))
    percentiles = [histograms.percentile(share) for share in (0.1, 0.5, 0.9)]
    served = histograms.share_from(int(_whole(table, "served_dbm")[-1]))
    totals = []
    for code, name in enumerate(names):
        here = table.filter(pa.array(network == code))
        known = int(_whole(here, "occupied_count").sum())
        per_tile = _samples_per_tile(here)
        totals.append(
            NetworkFacts(
                name=name,
                samples=int(_whole(here, "samples").sum()),
                tiles=len(per_tile),
                samples_per_tile_p50=int(np.sort(per_tile)[(len(per_tile) - 1) // 2]),
                samples_per_tile_max=int(per_tile.max()),
                rsrp_p10_dbm=float(percentiles[0][code]),
                rsrp_p50_dbm=float(percentiles[1][code]),
                rsrp_p90_dbm=float(percentiles[2][code]),
                served_share=float(served[code]),
                occupied_share=int(_whole(here, "occupied_sum_ppb").sum()) / _PPB / known if known else float("nan"),
            )
        )
    return sorted(totals, key=lambda facts: (-facts.samples, facts.name))


def _networks(table: pa.Table) -> tuple[list[str], NDArray[np.int64]]:
    """The networks' names, with their operators', and each row's index into them; a null network is "unknown"."""
    network, operator = pc.fill_null(table["network"], "unknown"), pc.fill_null(table["operator"], "")
    # Apart until each has its number: "A B" of nobody is not "B" of "A".
    pairs = pc.binary_join_element_wise(operator, network, _BETWEEN)
    encoded = pairs.combine_chunks().dictionary_encode()
    names = [pair.replace(_BETWEEN, " ", 1).removeprefix(" ") for pair in encoded.dictionary.to_pylist()]
    return names, encoded.indices.to_numpy().astype(np.int64)


def _samples_per_tile(table: pa.Table) -> NDArray[np.int64]:
    _, key = np.unique(_whole(table, "tile_x") * 2**32 + _whole(table, "tile_y"), return_inverse=True)
    found: NDArray[np.int64] = np.bincount(key, weights=_whole(table, "samples")).astype(np.int64)
    return found


def _whole(table: pa.Table, column: str) -> NDArray[np.int64]:
    values: NDArray[np.int64] = table[column].to_numpy().astype(np.int64)
    return values


def _distinct(x: NDArray[np.int64], y: NDArray[np.int64]) -> int:
    return len(np.unique(x * 2**32 + y))
