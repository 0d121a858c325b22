"""Coverage of the Cork traces, computed a second time: straight from the CSV files, in plain Python.

Nothing of the project is imported: what this module shares with the pipeline is the definition in the
issue, no line of code. Tiles come from the textbook formula; sums and histograms are integers, so a
comparison is for equality.
"""

from __future__ import annotations

import csv
import io
import math
import zipfile
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

ZOOM = 17
WINDOW = timedelta(minutes=15)
NO_RSRP_DBM = -200
IRELAND = ZoneInfo("Europe/Dublin")

Key = tuple[datetime, str, str, int | None, str | None]
"""Start of the window (UTC), tile as z/x/y, network, channel, operator."""


@dataclass
class Cell:
    """What is known of one key."""

    samples: int = 0
    rsrp_dbm: Counter[int] = field(default_factory=Counter)
    last_seen: datetime = datetime(1970, 1, 1, tzinfo=UTC)

    @property
    def rsrp_count(self) -> int:
        return sum(self.rsrp_dbm.values())

    @property
    def rsrp_sum_dbm(self) -> int:
        return sum(dbm * count for dbm, count in self.rsrp_dbm.items())

    def nearest_rank(self, per_mille: int) -> int | None:
        """The lowest RSRP with at least so many thousandths of the readings at or below it."""
        reached = 0
        for dbm in sorted(self.rsrp_dbm):
            reached += self.rsrp_dbm[dbm]
            if reached * 1000 >= per_mille * self.rsrp_count:
                return dbm
        return None

    def served(self, threshold_dbm: int) -> int:
        return sum(count for dbm, count in self.rsrp_dbm.items() if dbm >= threshold_dbm)


def coverage(archive: Path) -> dict[Key, Cell]:
    """Every key of the traces in ``archive``."""
    cells: dict[Key, Cell] = {}
    for row in rows(archive):
        measured = measured_at(row)
        key = (
            window_start(measured),
            tile(float(row["Latitude"]), float(row["Longitude"])),
            row["NetworkMode"],
            None,
            row["Operatorname"] if row["Operatorname"] not in ("", "-", "0") else None,
        )
        cell = cells.setdefault(key, Cell())
        cell.samples += 1
        cell.last_seen = max(cell.last_seen, measured)
        rsrp = int(row["RSRP"])
        if rsrp != NO_RSRP_DBM:
            cell.rsrp_dbm[rsrp] += 1
    return cells


def rows(archive: Path) -> list[dict[str, str]]:
    """Every row of every file, with the file's name under ``file``."""
    found: list[dict[str, str]] = []
    with zipfile.ZipFile(archive) as traces:
        for name in sorted(traces.namelist()):
            if not name.endswith(".csv"):
                continue
            text = io.TextIOWrapper(traces.open(name), encoding="utf-8", newline="")
            found += ({**row, "file": name} for row in csv.DictReader(text))
    return found


def measured_at(row: dict[str, str]) -> datetime:
    local = datetime.strptime(row["Timestamp"], "%Y.%m.%d_%H.%M.%S").replace(tzinfo=IRELAND)
    return local.astimezone(UTC)


def window_start(at: datetime) -> datetime:
    return at - (at - datetime(1970, 1, 1, tzinfo=UTC)) % WINDOW


def tile(lat: float, lon: float) -> str:
    """The Web Mercator tile that holds a point, as ``z/x/y``."""
    side = 1 << ZOOM
    phi = math.radians(lat)
    x = math.floor((lon + 180) / 360 * side)
    y = math.floor((1 - math.log(math.tan(phi) + 1 / math.cos(phi)) / math.pi) / 2 * side)
    return f"{ZOOM}/{x}/{y}"
