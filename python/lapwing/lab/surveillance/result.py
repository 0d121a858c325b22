"""What the surveillance experiment found, and its picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from lapwing.lab.dispatch.experiment import ratios
from lapwing.lab.dispatch.outcome import LATENCY_FROM, Row
from lapwing.lab.dispatch.plan import Plan
from lapwing.lab.surveillance.site import ALARM_DEADLINE_MS
from lapwing.pipeline.report.style import LIGHT, Sheet, fonts

_WIDTH, _HEIGHT = 13.0, 5.6
_LEFT, _BOTTOM, _ABOVE, _RIGHT, _GAP = 0.95, 0.95, 1.35, 0.6, 1.9
_CURVES_WIDTH = 6.6
_POINTS = 300


def to_json(plan: Plan, rows: Sequence[Row]) -> dict[str, Any]:
    """What ``--json`` prints: rows as in the dispatch experiment, of alarms from the sensor to the guard."""
    return {
        "plan": {
            "subjects": list(plan.subjects),
            "loads": list(plan.loads),
            "seeds": plan.seeds,
            "seconds": plan.seconds,
            "latency_from": LATENCY_FROM,
            "deadline_ms": ALARM_DEADLINE_MS,
        },
        "rows": [row.to_json() for row in rows],
        "ratios": list(ratios(rows, plan.subjects[0])),
    }


def draw(rows: Sequence[Row], path: Path) -> Path:
    """How long alarms take to the guard, and which share of the urgent ones comes late; rows of one load."""
    head = rows[0]
    with fonts():
        title = f"From the sensor to the guard ({head.load:.0%} load)"
        subtitle = f"{head.messages:,} alarms, the same for every policy; days: {head.seeds}"
        sheet = Sheet(LIGHT, _WIDTH, _HEIGHT, title, subtitle)
        high = _HEIGHT - _BOTTOM - _ABOVE
        _curves(sheet.axes(_LEFT, _BOTTOM, _CURVES_WIDTH, high), rows)
        left = _LEFT + _CURVES_WIDTH + _GAP
        _bars(sheet.axes(left, _BOTTOM, _WIDTH - left - _RIGHT, high), rows)
        unheard = [f"{row.policy} {row.unfinished:,}" for row in rows if row.unfinished]
        sheet.note(f"Not heard when the run was cut: {', '.join(unheard)}." if unheard else "Every alarm was heard.")
        return sheet.save(path)


def _colour(number: int) -> str:
    return LIGHT.series[number % len(LIGHT.series)]


def _curves(axes: Axes, rows: Sequence[Row]) -> None:
    """Share of alarms that take longer, both axes logarithmic."""
    for number, row in enumerate(rows):
        share = np.geomspace(1, 1 / max(row.messages, 2), _POINTS)
        at = np.minimum((1 - share) * len(row.latency_ms), len(row.latency_ms) - 1).astype(int)
        axes.plot(row.latency_ms[at], share, color=_colour(number), linewidth=1.9, label=row.policy)
    axes.axvline(ALARM_DEADLINE_MS, color=LIGHT.muted, linewidth=1, linestyle=":")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_title("alarms that take longer than ...", color=LIGHT.ink)
    axes.set_xlabel(f"ms; dotted: {ALARM_DEADLINE_MS} ms")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value * 100:.10g} %"))
    axes.grid(visible=True, color=LIGHT.line, linewidth=0.6)
    axes.legend(loc="lower left", frameon=False, labelcolor=LIGHT.ink)


def _bars(axes: Axes, rows: Sequence[Row]) -> None:
    """Share of urgent alarms that came too late, with intervals."""
    figures = [row.figures["missed_share"] for row in rows]
    values = np.array([figure.value for figure in figures]) * 100
    below = values - np.array([figure.low for figure in figures]) * 100
    above = np.array([figure.high for figure in figures]) * 100 - values
    places = np.arange(len(rows))[::-1]
    errors = (np.maximum(0, below), np.maximum(0, above))
    colours = [_colour(number) for number in range(len(rows))]
    axes.barh(places, values, xerr=errors, color=colours, height=0.55, ecolor=LIGHT.muted, capsize=3)
    for place, value in zip(places, values, strict=True):
        axes.text(0, place + 0.38, f" {value:.2g} %", color=LIGHT.ink, fontsize=9.5, va="center")
    axes.set_yticks(places, [row.policy for row in rows])
    axes.set_xlim(left=0)
    axes.set_ylim(-0.5, len(rows) - 0.35)
    axes.set_title(f"urgent alarms later than {ALARM_DEADLINE_MS} ms", color=LIGHT.ink)
    axes.set_xlabel("%")
