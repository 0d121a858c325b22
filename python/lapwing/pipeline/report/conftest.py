"""Small tables to the contract, without a pipeline: what the report's tests draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from deltalake import write_deltalake

from lapwing.contracts.clocks import ROUTES
from lapwing.contracts.tables import TABLES

START = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)
Rows = list[dict[str, Any]]
MakeTables = Callable[..., Path]


@pytest.fixture
def make_tables(tmp_path: Path) -> MakeTables:
    """A function that writes all tables into a new folder and returns it; see `write_tables`."""

    def make(**settings: Any) -> Path:
        out = tmp_path / "out"
        write_tables(out, **settings)
        return out

    return make


def write_tables(
    out: Path,
    *,
    devices: int = 3,
    minutes: int = 2,
    tiles: int = 30,
    trouble: bool = False,
    readings: int = 200,
    names: Sequence[str] = ("",),
    operator: str | None = None,
) -> None:
    """Writes tables of made-up rows; ``trouble`` adds loss, repeats and a device whose clock runs ahead.

    ``names``: stand by turns in the names of devices and networks, which are whatever somebody sends.
    """
    random = np.random.default_rng(1)
    made = {
        "coverage": _coverage(tiles, names, operator, random),
        "quality": _quality(devices, minutes, trouble, names, random),
        "latency": _latency(minutes, trouble, random) if readings else [],
        "readings": _readings(devices, readings, minutes, random),
        "quarantine": _quarantine() if trouble else [],
        "seen": [],
    }
    for name, rows in made.items():
        write_deltalake(str(out / "tables" / name), pa.Table.from_pylist(rows, TABLES[name].arrow_schema()))


def _coverage(tiles: int, names: Sequence[str], operator: str | None, random: np.random.Generator) -> Rows:
    side = max(1, int(np.ceil(np.sqrt(tiles))))
    rows = []
    for index in range(tiles):
        x, y = 62_440 + index % side, 43_300 + index // side
        known = index % 7 != 3
        levels = sorted({int(level) for level in random.integers(-118, -70, 3)}) if known else []
        count = len(levels)
        rows.append(
            {
                "window_start": START,
                "tile": f"17/{x}/{y}",
                "network": [None, f"5G{names[index // 4 % len(names)]}", "LTE", "HSPA+"][index % 4],
                "operator": operator and [operator, None][index % 8 == 7],
                "channel": [None, 636666][index % 2],
                "tile_x": x,
                "tile_y": y,
                "samples": count + (not known),
                "occupied_count": index % 2,
                "occupied_sum_ppb": index % 2 * 400_000_000,
                "rsrp_count": count,
                "rsrp_sum_dbm": sum(levels),
                "served_dbm": -110,
                "last_seen": START + timedelta(minutes=7),
                "rsrp_histogram": [{"dbm": level, "count": 1} for level in levels],
            }
        )
    return rows


def _quality(devices: int, minutes: int, trouble: bool, names: Sequence[str], random: np.random.Generator) -> Rows:
    rows = []
    for device in range(devices):
        for minute in range(minutes):
            bad = trouble and device % 3 == 0
            gap, recovered = (int(random.integers(0, 5)), int(random.integers(0, 2))) if bad else (0, 0)
            rows.append(
                {
                    "device": f"phone-{device:04d}{names[device // 3 % len(names)]}",
                    "minute": START + timedelta(minutes=minute),
                    "received": int(random.integers(50, 60)),
                    "gap": gap,
                    "recovered": recovered,
                    "lost": gap - recovered,
                    "repeated": 2 if bad else 0,
                    "reordered": recovered,
                    "missing": gap - recovered,
                    "quarantined": 1 if bad else None,
                    "before_start": 0,
                }
            )
    return rows


def _latency(minutes: int, trouble: bool, random: np.random.Generator) -> Rows:
    rows = []
    for index, route in enumerate(ROUTES):
        for minute in range(minutes):
            buckets = (np.log(random.lognormal(5 + 2 * index, 0.5, 400)) / np.log(1.02)).astype(int) + 1
            if trouble and index == 0:
                buckets[:9] *= -1
            found, counts = np.unique(buckets, return_counts=True)
            middles = np.sign(found) * 1.02 ** (np.abs(found) - 0.5)
            rows.append(
                {
                    "minute": START + timedelta(minutes=minute),
                    "route": route.name,
                    "count": 400,
                    "min_us": int(middles.min()),
                    "max_us": int(middles.max()),
                    "p50_us": float(np.median(middles)),
                    "p95_us": float(middles.max()),
                    "p99_us": float(middles.max()),
                    "p999_us": float(middles.max()),
                    "histogram": [
                        {"bucket": int(bucket), "count": int(count)}
                        for bucket, count in zip(found, counts, strict=True)
                    ],
                }
            )
    return rows


def _readings(devices: int, readings: int, minutes: int, random: np.random.Generator) -> Rows:
    rows = []
    for index in range(readings):
        sent = START + timedelta(seconds=60 * minutes * index / readings)
        ingress = sent + timedelta(microseconds=float(random.lognormal(6, 0.6)))
        rows.append(
            {
                "device": f"phone-{index % devices:04d}",
                "boot": 0,
                "serial": index // devices,
                "sent_at": sent,
                "measured_at": sent,
                "lat": 51.9 + index % 3 / 100,
                "lon": -8.47,
                "ingress_at": ingress,
                "appended_at": ingress + timedelta(milliseconds=2),
                "observed_at": ingress + timedelta(milliseconds=900 + 800 * float(random.random())),
                "partition": 0,
                "offset": index,
            }
        )
    return rows


def _quarantine() -> Rows:
    row = {"reason": "<not JSON & worse>", "topic": "t", "client_id": "c", "payload": b"{"}
    return [dict.fromkeys(TABLES["quarantine"].names) | row | {"partition": 0, "offset": 1}]
