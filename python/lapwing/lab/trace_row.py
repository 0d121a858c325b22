"""One row of a trace, as the phone's measuring program wrote it, turned into the fields of a reading.

The columns are those of the public drive tests around Cork (Raca et al., ACM MMSys 2020); other columns are
ignored. ``-`` and an empty field mean unknown everywhere; ``0`` means unknown for operator and cell, and
for RSRQ (GSM has none). RSRP of -200 ("no value") is passed on: the pipeline decides what it means. What is
passed on keeps the reading's contract, so that no row of a trace ends in quarantine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from lapwing.contracts.reading import READING
from lapwing.lab.payload import Value
from lapwing.lab.trace_number import UNKNOWN, number, points_group, whole
from lapwing.lab.trace_repairs import Repair, shown
from lapwing.lab.trace_time import measured_at_us

REQUIRED = ("Timestamp", "Longitude", "Latitude", "NetworkMode", "RSRP")
"""Without these a file is not such a trace."""

_NUMBERS = {
    "speed_kmh": "Speed",
    "rsrp_dbm": "RSRP",
    "rsrq_db": "RSRQ",
    "snr_db": "SNR",
    "rssi_dbm": "RSSI",
    "dl_kbps": "DL_bitrate",
    "ul_kbps": "UL_bitrate",
}
_OF_NUMBERS = ("Latitude", "Longitude", *_NUMBERS.values())
READ = (*REQUIRED, *(name for name in _NUMBERS.values() if name != "RSRP"), "Operatorname", "RAWCELLID", "CellID")
"""All columns that are looked at; each is there once."""
_NOT_TEXT = "\ufffd"


class MalformedRowError(ValueError):
    """The row cannot be a reading; the text names column and value."""


@dataclass(frozen=True, slots=True)
class TraceRow:
    """One sound row: where it begins, when it was measured (microseconds since the epoch, UTC), what, and what of it
    had to be mended.
    """

    line: int
    measured_at_us: int
    values: dict[str, Value]
    repairs: tuple[Repair, ...] = ()


class RowReader:
    """Reads the rows of one file, in its order.

    Args:
        columns: The header.
        zone: The local time in which the trace was written.
        decimal_comma: See `lapwing.lab.trace_number.number`.
    """

    def __init__(self, columns: Sequence[str], zone: ZoneInfo, *, decimal_comma: bool = False) -> None:
        self._columns = list(columns)
        self._zone = zone
        self._decimal_comma = decimal_comma
        self._grouped: bool | None = False
        """Of the row at hand; see `points_group`."""
        self._previous_us: int | None = None

    def read(self, line: int, fields: Sequence[str]) -> TraceRow:
        """One row.

        Raises:
            MalformedRowError: a field is missing, in excess, or not what its column holds.
        """
        cells = self._cells(fields)
        repairs: list[Repair] = []
        try:
            values = self._values(cells, repairs)
            at_us = measured_at_us(cells["Timestamp"], self._zone, self._previous_us, repairs)
        except ValueError as problem:
            raise MalformedRowError(str(problem)) from None
        self._previous_us = at_us
        return TraceRow(line, at_us, values, tuple(repairs))

    def _cells(self, fields: Sequence[str]) -> Mapping[str, str]:
        if len(fields) != len(self._columns):
            raise MalformedRowError(
                f"the number of fields differs from the header's: {len(fields)}, not {len(self._columns)}"
            )
        cells = dict(zip(self._columns, fields, strict=True))
        if all(cells[name].strip() == name for name in REQUIRED):
            raise MalformedRowError("the header again")
        return cells

    def _values(self, cells: Mapping[str, str], repairs: list[Repair]) -> dict[str, Value]:
        self._grouped = self._decimal_comma and points_group(cells.get(name, "") for name in _OF_NUMBERS)
        values: dict[str, Value] = {
            "lat": self._coordinate(cells, "Latitude", 90.0, repairs),
            "lon": self._coordinate(cells, "Longitude", 180.0, repairs),
            "operator": _name(cells, "Operatorname", "operator", repairs),
            "cell": _name(cells, "RAWCELLID", "cell", repairs) or _name(cells, "CellID", "cell", repairs),
            "network": _name(cells, "NetworkMode", "network", repairs),
        }
        for field, column in _NUMBERS.items():
            values[field] = _kept(field, column, self._number(cells, column, repairs), repairs)
        if values["rsrq_db"] == 0:
            values["rsrq_db"] = None
        return values

    def _number(self, cells: Mapping[str, str], column: str, repairs: list[Repair]) -> int | float | None:
        return number(cells.get(column, ""), column, repairs, decimal_comma=self._decimal_comma, grouped=self._grouped)

    def _coordinate(self, cells: Mapping[str, str], column: str, limit: float, repairs: list[Repair]) -> float:
        value = self._number(cells, column, repairs)
        if value is None or abs(value) > limit:
            raise ValueError(f"{column} {shown(cells[column])} is not within ±{limit:.0f} degrees")
        return float(value)


def _name(cells: Mapping[str, str], column: str, field: str, repairs: list[Repair]) -> str | None:
    text = cells.get(column, "")
    if text in UNKNOWN or text == "0":
        return None
    said = text.strip()
    if said != text:
        repairs.append(Repair("spaces", f"{column} {shown(text)}"))
    if _NOT_TEXT in said:
        raise ValueError(f"{column} {shown(text)} is not UTF-8 text")
    if len(said) > int(READING[field].high or 0):
        repairs.append(Repair("out_of_range", f"{column} of {len(said)} characters"))
        return None
    return None if said in UNKNOWN or said == "0" else said


def _kept(field: str, column: str, value: float | None, repairs: list[Repair]) -> float | None:
    """The value as the contract takes it."""
    if value is None:
        return None
    contract = READING[field]
    if contract.kind == "int32" and isinstance(value, float):
        if value != whole(value):
            repairs.append(Repair("rounded", f"{column} '{value}'"))
        value = whole(value)
    if contract.low is None or contract.high is None or contract.low <= value <= contract.high:
        return value
    repairs.append(Repair("out_of_range", f"{column} '{value}'"))
    return None
