"""The time of a trace's row: local time of a zone, or ISO 8601, as microseconds since the epoch."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from lapwing.lab.trace_repairs import Repair

_TRACE = re.compile(r"(\d{4})\.(\d\d)\.(\d\d)_(\d\d)\.(\d\d)\.(\d\d)", re.ASCII)
_ISO = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d([.,]\d{1,9})?\s?(Z|[+-]\d\d:?\d\d)?", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_YEAR_FIRST, _YEAR_LAST = 1970, 2261
"""Those of the contract."""


def measured_at_us(text: str, zone: ZoneInfo, previous_us: int | None, repairs: list[Repair]) -> int:
    """Microseconds since the epoch.

    Args:
        text: ``YYYY.MM.DD_HH.MM.SS``, or ISO 8601 with or without a zone.
        zone: Whose local time it is, where it does not say so itself.
        previous_us: The time of the row before; it decides of an hour that the zone has twice.
        repairs: Gets ``hour_twice`` where it had to.
    Raises:
        ValueError: it is no time, not of 1970..2261, or of an hour that the zone leaves out.
    """
    said = _said(text.strip(), zone)
    if said is None:
        raise ValueError(f"Timestamp {text!r} is not YYYY.MM.DD_HH.MM.SS, nor ISO 8601")
    if not _YEAR_FIRST < said.year < _YEAR_LAST:
        raise ValueError(f"Timestamp {text!r} is not of the years {_YEAR_FIRST + 1} to {_YEAR_LAST - 1}")
    if said.tzinfo is not zone:
        return _us(said)
    first, second = _us(said), _us(said.replace(fold=1))
    if first == second:
        return first
    if first > second:
        raise ValueError(f"Timestamp {text!r} is of an hour that {zone.key} leaves out; is --zone right?")
    repairs.append(Repair("hour_twice", f"Timestamp {text!r} in {zone.key}"))
    if previous_us is None:
        return first
    return min((first, second), key=lambda us: abs(us - previous_us))


def _said(text: str, zone: ZoneInfo) -> datetime | None:
    # By hand: `strptime` would be half of the time that replay takes.
    match = _TRACE.fullmatch(text)
    try:
        if match is not None:
            return datetime(*map(int, match.groups()), tzinfo=zone)  # type: ignore[arg-type, misc]
        if _ISO.fullmatch(text) is None:
            return None
        found = datetime.fromisoformat(re.sub(r"\s(?=[Z+-])", "", text))
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=zone)


def _us(moment: datetime) -> int:
    return (moment.astimezone(UTC) - _EPOCH) // timedelta(microseconds=1)
