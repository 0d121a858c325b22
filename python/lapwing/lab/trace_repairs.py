"""The rules by which a trace's value is mended, by name: nothing is changed in silence.

A rule applies where there is one sensible reading of what stands there. Where there are two, or none, the row is
refused with its line and the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lapwing.text import one_line

REPAIRS: Mapping[str, str] = {
    "spaces": "space around a value is left out",
    "minus_sign": "a typographic minus (U+2212, an en dash) is a minus",
    "thousands_separator": "1,234 and 1 234 and 1'234 are 1234, beside decimal commas 1.234 too; groups of three",
    "decimal_comma": "51,9 is 51.9; with other groups than three, or in a file whose delimiter is a semicolon",
    "no_value": "NaN, NA, N/A, null, none and 2147483647 (Android's UNAVAILABLE) are unknown",
    "rounded": "a fraction where the contract has whole numbers is rounded, halves away from zero",
    "out_of_range": "an optional value outside the contract's range is unknown",
    "epoch": "a whole number is the time since 1970 in s, ms, us or ns: only one lies in the years 1971 to 2260",
    "day_first": "15.01.2020 10:00:00 is the 15th of January: with dots the day comes first",
    "leap_second": "23:59:60 UTC is the second after it, as clocks without leap seconds count",
    "hour_twice": "of an hour that the zone has twice, the one that is closer to the row before",
    "clock_jump": "the clock jumped by more than ten minutes: the next row is due a second later, its time stays",
}


_SHOWN_CHARS = 80


def shown(text: str) -> str:
    """What stood in a cell, for a message: the beginning of it where it is long."""
    return repr(text) if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]!r}... ({len(text)} characters)"


@dataclass(frozen=True, slots=True)
class Repair:
    """What was done to one row: a name of ``REPAIRS``, and the column with what stood there."""

    rule: str
    what: str


@dataclass(slots=True)
class Repaired:
    """How often a rule was applied, and where first."""

    rows: int
    first: str


class Repairs:
    """What was mended in some traces, by rule."""

    def __init__(self) -> None:
        self._found: dict[str, Repaired] = {}

    def add(self, where: str, repairs: Iterable[Repair]) -> None:
        """Counts what was done to the row at ``where`` (file and line)."""
        for repair in repairs:
            known = self._found.setdefault(repair.rule, Repaired(0, one_line(f"{where}: {repair.what}")))
            known.rows += 1

    def by_rule(self) -> dict[str, Repaired]:
        """The rules that were applied, in the order of ``REPAIRS``."""
        return {rule: self._found[rule] for rule in REPAIRS if rule in self._found}

    def as_json(self) -> dict[str, dict[str, Any]]:
        """As ``summary.json`` says it."""
        return {
            rule: {"count": found.rows, "meaning": REPAIRS[rule], "first": found.first}
            for rule, found in self.by_rule().items()
        }
