"""The time of a trace's row: local time of a zone, ISO 8601, or since 1970; as microseconds since the epoch."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from lapwing.lab.trace_repairs import Repair, shown

_TRACE = re.compile(r"(\d{4})\.(\d\d)\.(\d\d)_(\d\d)\.(\d\d)\.(\d\d)", re.ASCII)
_DAY_FIRST = re.compile(r"(\d\d)\.(\d\d)\.(\d{4})[ T_](\d\d:\d\d:\d\d([.,]\d{1,9})?)", re.ASCII)
_ISO = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(:\d\d)?([.,]\d{1,9})?\s?(?:(Z|z|UTC|GMT)|([+-]\d\d)(?::?(\d\d))?)?", re.ASCII
)
_COUNT = re.compile(r"\d{8,19}", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_YEAR_FIRST, _YEAR_LAST = 1970, 2261
"""Those of the contract."""
_SECONDS_MIN, _SECONDS_MAX = 365 * 86_400, 9_183_110_400
"""From 1971 to 2260 inclusive: a thousand times as many lie in the same years as another unit."""
_LEAP = ":60"


def measured_at_us(text: str, zone: ZoneInfo, previous_us: int | None, repairs: list[Repair]) -> int:
    """Microseconds since the epoch.

    Args:
        text: ``YYYY.MM.DD_HH.MM.SS``, or ISO 8601 with or without a zone, or what a rule of ``REPAIRS`` mends.
        zone: Whose local time it is, where it does not say so itself.
        previous_us: The time of the row before; it decides of an hour that the zone has twice.
        repairs: Gets what had to be done.
    Raises:
        ValueError: it is no time, not of 1971..2260, or of an hour that the zone leaves out.
    """
    told = f"Timestamp {shown(text)}"
    count = _counted_us(text.strip())
    if count is not None:
        repairs.append(Repair("epoch", told))
        return count
    said, rules = _said(text.strip(), zone)
    if said is None:
        raise ValueError(f"{told} is not YYYY.MM.DD_HH.MM.SS, nor as 2020-01-15T10:00:00Z")
    if not _YEAR_FIRST < said.year < _YEAR_LAST:
        raise ValueError(f"{told} is not of the years {_YEAR_FIRST + 1} to {_YEAR_LAST - 1}")
    repairs += [Repair(rule, told) for rule in rules]
    if said.tzinfo is not zone:
        return _us(said)
    first, second = _us(said), _us(said.replace(fold=1))
    if first == second:
        return first
    if first > second:
        raise ValueError(f"{told} is of an hour that {zone.key} leaves out; is --zone right?")
    repairs.append(Repair("hour_twice", f"{told} in {zone.key}"))
    if previous_us is None:
        return first
    return min((first, second), key=lambda us: abs(us - previous_us))


def _counted_us(text: str) -> int | None:
    """A whole number as time since 1970: the unit is the one with which it lies in the contract's years."""
    if _COUNT.fullmatch(text) is None:
        return None
    value = int(text)
    for per_second in (1, 1000, 1_000_000, 1_000_000_000):
        if _SECONDS_MIN * per_second <= value < _SECONDS_MAX * per_second:
            return value * 1_000_000 // per_second
    return None


def _said(text: str, zone: ZoneInfo) -> tuple[datetime | None, list[str]]:
    """The moment, in ``zone`` where it names none; and the rules by which it was understood."""
    # By hand: `strptime` would be half of the time that replay takes.
    match = _TRACE.fullmatch(text)
    try:
        if match is not None and match[6] != "60":
            return datetime(*map(int, match.groups()), tzinfo=zone), []  # type: ignore[arg-type, misc]
        plain, rules = _as_iso(text)
        return _moment(plain, zone, rules) if plain else None, rules
    except (ValueError, OverflowError):  # the latter: a leap second at the end of the calendar
        return None, []


def _as_iso(text: str) -> tuple[str, list[str]]:
    """The same in one form, and the rules by which; empty where it is no time."""
    if trace := _TRACE.fullmatch(text):
        return "{}-{}-{}T{}:{}:{}".format(*trace.groups()), []
    if german := _DAY_FIRST.fullmatch(text):
        return f"{german[3]}-{german[2]}-{german[1]}T{german[4]}", ["day_first"]
    iso = _ISO.fullmatch(text)
    if iso is None or (iso[4] and not iso[3]):
        return "", []
    offset = "+00:00" if iso[5] else f"{iso[6]}:{iso[7] or '00'}" if iso[6] else ""
    return f"{iso[1]}T{iso[2]}{iso[3] or ':00'}{iso[4] or ''}{offset}", []


def _moment(plain: str, zone: ZoneInfo, rules: list[str]) -> datetime | None:
    leaps = _LEAP in plain[16:19]
    found = datetime.fromisoformat(plain[:17] + "59" + plain[19:] if leaps else plain)
    found = found if found.tzinfo is not None else found.replace(tzinfo=zone)
    if not leaps:
        return found
    utc = found.astimezone(UTC)
    if (utc.hour, utc.minute) != (23, 59):
        return None
    rules.append("leap_second")
    return utc.replace(second=59) + timedelta(seconds=1)


def _us(moment: datetime) -> int:
    return (moment.astimezone(UTC) - _EPOCH) // timedelta(microseconds=1)
