"""Numbers as people read them."""

from __future__ import annotations

from math import isnan


def duration(us: float) -> str:
    """Microseconds in the unit that leaves one to three digits: ``850 us``, ``1.24 ms``, ``3.4 s``, ``12
    min``.
    """
    if isnan(us):
        return "-"
    sign, size = ("-" if us < 0 else ""), abs(us)
    for limit, divisor, unit in ((1e3, 1, "us"), (1e6, 1e3, "ms"), (120e6, 1e6, "s"), (7200e6, 60e6, "min")):
        if size < limit:
            return f"{sign}{_digits(size / divisor)} {unit}"
    return (
        f"{sign}{_digits(size / 3600e6)} h" if size < 172_800e6 else f"{sign}{_digits(size / 86_400e6)} days"
    )


def share(value: float) -> str:
    """A share of 1 in per cent, with enough digits that a small one is not shown as none."""
    if isnan(value):
        return "-"
    if value == 0 or abs(value) >= 0.01:
        return f"{100 * value:.3g} %"
    return f"{100 * value:.2g} %"


def count(value: float) -> str:
    """A whole number with separators."""
    return f"{int(value):,}"


def dbm(value: float) -> str:
    """A power, or ``-`` where nobody knows."""
    return "-" if isnan(value) else f"{value:.0f} dBm"


def _digits(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.3g}"
