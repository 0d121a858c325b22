"""One row of a trace, as the phone's measuring program wrote it, turned into the fields of a reading.

The columns are those of the public drive tests around Cork (Raca et al., ACM MMSys 2020); other columns are
ignored. ``-`` and an empty field mean unknown everywhere; ``0`` means unknown for operator and cell, and
for RSRQ (GSM has none). RSRP is passed on as it is, -200 ("no value") included: the pipeline decides what
it means.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import cast
from zoneinfo import ZoneInfo

from lapwing.lab.payload import Value

REQUIRED = ("Timestamp", "Longitude", "Latitude", "NetworkMode", "RSRP")
"""Without these a file is not such a trace."""

_TIMESTAMP = re.compile(r"(\d{4})\.(\d\d)\.(\d\d)_(\d\d)\.(\d\d)\.(\d\d)", re.ASCII)
_UNKNOWN = ("", "-")
_NUMBERS = {
    "speed_kmh": "Speed",
    "rsrp_dbm": "RSRP",
    "rsrq_db": "RSRQ",
    "snr_db": "SNR",
    "rssi_dbm": "RSSI",
    "dl_kbps": "DL_bitrate",
    "ul_kbps": "UL_bitrate",
}


class MalformedRowError(ValueError):
    """The row cannot be a reading; the text names column and value."""


@dataclass(frozen=True, slots=True)
class TraceRow:
    """One sound row: when it was measured (microseconds since the epoch, UTC) and what."""

    measured_at_us: int
    values: dict[str, Value]


def parse(row: Mapping[str | None, str | list[str] | None], zone: ZoneInfo) -> TraceRow:
    """Reads one row of ``csv.DictReader``.

    Args:
        row: Column name to text; ``None`` as key or value marks too many or too few fields.
        zone: The local time in which the trace was written.
    Raises:
        MalformedRowError: a field is missing, in excess, or not what its column holds.
    """
    cells = _cells(row)
    values: dict[str, Value] = {
        "lat": _coordinate(cells, "Latitude", 90.0),
        "lon": _coordinate(cells, "Longitude", 180.0),
        "operator": _name(cells, "Operatorname"),
        "cell": _name(cells, "RAWCELLID") or _name(cells, "CellID"),
        "network": _name(cells, "NetworkMode"),
    }
    for field, column in _NUMBERS.items():
        values[field] = _number(cells, column)
    if values["rsrq_db"] == 0:
        values["rsrq_db"] = None
    return TraceRow(_measured_at_us(cells["Timestamp"], zone), values)


def _cells(row: Mapping[str | None, str | list[str] | None]) -> Mapping[str, str]:
    if None in row or None in row.values():
        raise MalformedRowError("the number of fields differs from the header's")
    return cast(Mapping[str, str], row)


def _measured_at_us(text: str, zone: ZoneInfo) -> int:
    # By hand: `strptime` would be half of the time that replay takes.
    match = _TIMESTAMP.fullmatch(text)
    try:
        if match is None:
            raise ValueError
        local = datetime(*map(int, match.groups()), tzinfo=zone)  # type: ignore[arg-type, misc]
    except ValueError:
        raise MalformedRowError(f"Timestamp {text!r} is not YYYY.MM.DD_HH.MM.SS") from None
    return int(local.timestamp()) * 1_000_000


def _coordinate(cells: Mapping[str, str], column: str, limit: float) -> float:
    value = _number(cells, column)
    if value is None or abs(value) > limit:
        raise MalformedRowError(f"{column} {cells[column]!r} is not within ±{limit:.0f} degrees")
    return float(value)


def _name(cells: Mapping[str, str], column: str) -> str | None:
    text = cells.get(column, "")
    return None if text in _UNKNOWN or text == "0" else text


def _number(cells: Mapping[str, str], column: str) -> int | float | None:
    text = cells.get(column, "")
    if text in _UNKNOWN:
        return None
    try:
        return int(text)
    except ValueError:
        pass
    try:
        value = float(text)
    except ValueError:
        raise MalformedRowError(f"{column} {text!r} is not a number") from None
    if not math.isfinite(value):
        raise MalformedRowError(f"{column} {text!r} is not a finite number")
    return value
