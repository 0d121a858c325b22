"""Numbers as people read them."""

from __future__ import annotations

from math import isnan

_UNITS = (
    (1e3, 1.0, "µs"),
    (1e6, 1e3, "ms"),
    (120e6, 1e6, "s"),
    (7200e6, 60e6, "min"),
    (172_800e6, 3600e6, "h"),
    (float("inf"), 86_400e6, "days"),
)
"""Below so many microseconds, so many make one of that unit."""


def duration(us: float) -> str:
    """Microseconds in a unit that leaves few digits: ``850 µs``, ``1.24 ms``, ``3.4 s``, ``12 min``."""
    if isnan(us):
        return "-"
    sign, size = ("-" if us < 0 else ""), abs(us)
    divisor, unit = next((divisor, unit) for limit, divisor, unit in _UNITS if size < limit)
    return f"{sign}{_digits(size / divisor)} {unit}"


def share(value: float) -> str:
    """A share of 1 in per cent, with enough digits that a small one is not shown as none."""
    if isnan(value):
        return "-"
    return f"{100 * value:.3g} %" if value == 0 or abs(value) >= 0.01 else f"{100 * value:.2g} %"


def count(value: float) -> str:
    """A whole number with separators."""
    return f"{int(value):,}"


def dbm(value: float) -> str:
    """A power, or ``-`` where nobody knows."""
    return "-" if isnan(value) else f"{value:.0f} dBm"


def _digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
