"""The share of places that are fresh, over time, from a folder's ``readings`` and ``commands``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lapwing.pipeline.report.tables import read
from lapwing.pipeline.transforms.groups import floats, ints
from lapwing.pipeline.transforms.tiles import tile_xy

SECOND_US = 1_000_000
POINTS_MAX = 600


@dataclass(frozen=True, slots=True)
class Freshness:
    """One run.

    Attributes:
        name: What is shown of it.
        seconds: From the first reading.
        share: Of the places, 0..1, fresh then.
        readings: Messages in the tables.
        states: Commands by state.
    """

    name: str
    seconds: NDArray[np.float64]
    share: NDArray[np.float64]
    readings: int
    states: Mapping[str, int]

    @property
    def mean(self) -> float:
        """Over the whole run."""
        return float(self.share.mean()) if len(self.share) else 0.0

    @property
    def mean_of_second_half(self) -> float:
        """What is left when all that was sent ahead at first is paid for."""
        later = self.share[len(self.share) // 2 :]
        return float(later.mean()) if len(later) else 0.0


@dataclass(frozen=True, slots=True)
class FreshnessRule:
    """When a place is fresh.

    Attributes:
        name: Of the run, as it is shown.
        fresh_s: A sample counts so long.
        samples_wanted: So many must count.
    """

    name: str
    fresh_s: float
    samples_wanted: int


@dataclass(frozen=True, slots=True)
class FreshnessFacts:
    """Runs on the same places.

    Attributes:
        runs: One, or several to be compared.
        places: Places that any of them has measured: what a share is of.
        fresh_s: A sample counts so long.
        samples_wanted: So many must count.
    """

    runs: tuple[Freshness, ...]
    places: int
    fresh_s: float
    samples_wanted: int


def freshness_facts(runs: Mapping[str, Path], *, fresh_s: float, samples_wanted: int) -> FreshnessFacts | None:
    """How fresh places were.

    Args:
        runs: Output folders by the name that is shown.
        fresh_s: A sample counts so long.
        samples_wanted: So many samples make a place fresh.
    Returns:
        None where there is no reading with a position.
    Raises:
        ReportError: a table cannot be read.
    """
    found = {name: _samples(out) for name, out in runs.items()}
    places = set[int]().union(*(set(tiles.tolist()) for tiles, _ in found.values()))
    if not places:
        return None
    lines = []
    for name, (tiles, at_us) in found.items():
        seconds, count = fresh_over_time(tiles, at_us, fresh_s=fresh_s, samples_wanted=samples_wanted)
        share = count / len(places)
        lines.append(Freshness(name, seconds, share, len(tiles), _states(runs[name])))
    return FreshnessFacts(tuple(lines), len(places), fresh_s, samples_wanted)


def fresh_over_time(
    tiles: NDArray[np.int64], at_us: NDArray[np.int64], *, fresh_s: float, samples_wanted: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """How many tiles are fresh, at even times from the first sample to the last.

    A tile with samples at t1 <= t2 <= ... is fresh from its n-th sample on until the oldest of the last n is too old:
    each sample opens an interval that the next one may prolong.
    """
    if not len(tiles):
        return np.empty(0), np.empty(0, dtype=np.int64)
    order = np.lexsort((at_us, tiles))
    tile, at = tiles[order], at_us[order]
    last = np.arange(len(tile))
    first = last - (samples_wanted - 1)
    whole = (first >= 0) & (tile[np.maximum(first, 0)] == tile)
    begins, ends = at[whole], at[first[whole]] + round(fresh_s * SECOND_US)
    of = tile[whole]
    # An interval ends where the next one of its tile begins, at the latest: no tile counts twice.
    same = np.append(of[1:] == of[:-1], False) if len(of) else np.empty(0, dtype=bool)
    following = np.append(begins[1:], 0) if len(of) else begins
    ends = np.where(same, np.minimum(ends, following), ends)
    kept = ends > begins
    start, stop = int(at_us.min()), int(at_us.max())
    points = np.linspace(start, stop, min(POINTS_MAX, max(2, (stop - start) // SECOND_US + 1)))
    opened = np.searchsorted(np.sort(begins[kept]), points, side="right")
    closed = np.searchsorted(np.sort(ends[kept]), points, side="right")
    return (points - start) / SECOND_US, (opened - closed).astype(np.int64)


def _samples(out: Path) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    rows = read(out, "readings", ["lat", "lon", "measured_at", "ingress_at"])
    placed = rows.filter(rows["lat"].is_valid())
    x, y = tile_xy(floats(placed["lat"]), floats(placed["lon"]))
    return x << 32 | y, np.minimum(ints(placed["measured_at"]), ints(placed["ingress_at"]))


def _states(out: Path) -> Mapping[str, int]:
    if not (out / "tables" / "commands").is_dir():
        return {}
    counted = (
        pa.table({"state": read(out, "commands", ["state"])["state"]}).group_by("state").aggregate([([], "count_all")])
    )
    names: Sequence[str] = counted["state"].to_pylist()
    return dict(sorted(zip(names, counted["count_all"].to_pylist(), strict=True)))
