"""``latency.png``: one row per route, its histogram on a log axis, its percentiles in figures, and its
course over time.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from numpy.typing import NDArray

from lapwing.pipeline.report.latency_facts import RouteFacts
from lapwing.pipeline.report.style import Scheme, Sheet, empty
from lapwing.pipeline.report.time_steps import time_axis
from lapwing.pipeline.report.units import count, duration

WIDTH = 16.0
_ROW, _GAP = 1.16, 0.22
_BOTTOM, _ABOVE = 0.95, 1.42
_LEFT = 2.35
_HISTOGRAM_WIDTH = 5.2
_FIGURES = ("p50", "p95", "p99", "p99.9", "max")
_FIGURES_LEFT, _FIGURE_WIDTH = 7.75, 0.78
_TIME_LEFT, _TIME_WIDTH = 12.55, 3.0
_BINS_PER_DECADE = 12
_FLOOR_US = 1.0
"""The log axis starts here at the earliest; what is below, or negative, is counted in the note."""


def draw_latency(facts: list[RouteFacts], scheme: Scheme, path: Path) -> Path:
    """Draws the picture; without facts it says that there is nothing to show yet."""
    rows = max(len(facts), 2)
    height = _BOTTOM + rows * (_ROW + _GAP) + _ABOVE
    if not facts:
        sheet = Sheet(scheme, WIDTH, height, "Latency", "no reading with two clocks yet")
        empty(
            sheet.axes(0.95, _BOTTOM, WIDTH - 1.9, height - _ABOVE - _BOTTOM),
            scheme,
            "the latency table is empty",
        )
        return sheet.save(path)
    sheet = Sheet(scheme, WIDTH, height, "Latency", f"Between the clocks of {count(facts[0].count)} readings")
    edges = _edges(facts)
    for index, route in enumerate(facts):
        bottom = height - _ABOVE - _ROW - index * (_ROW + _GAP)
        _row(
            sheet,
            route,
            edges,
            bottom,
            scheme.series[index % len(scheme.series)],
            last=index == len(facts) - 1,
        )
    _heads(sheet, height - _ABOVE + 0.16, facts[0].over_time.steps.name)
    sheet.note(_note(facts))
    return sheet.save(path)


def _row(sheet: Sheet, route: RouteFacts, edges: NDArray[np.float64], bottom: float, colour: str, last: bool) -> None:
    wide, high = sheet.figure.get_size_inches()
    middle = (bottom + _ROW / 2) / high
    ink, muted = sheet.scheme.ink, sheet.scheme.muted
    left, clocks = 0.45 / wide, route.name.replace("->", " → ")
    title: dict[str, Any] = {"color": ink, "fontsize": 11.5, "fontweight": "bold", "va": "center"}
    sheet.figure.text(left, middle + 0.1 / high, route.title, **title)
    sheet.figure.text(left, middle - 0.14 / high, clocks, color=muted, fontsize=9, va="center")
    histogram = sheet.axes(_LEFT, bottom, _HISTOGRAM_WIDTH, _ROW)
    _histogram(histogram, route, edges, colour, sheet.scheme, labels=last)
    values = (route.p50_us, route.p95_us, route.p99_us, route.p999_us, route.max_us)
    for column, value in enumerate(values):
        x = (_FIGURES_LEFT + (column + 1) * _FIGURE_WIDTH - 0.05) / wide
        sheet.figure.text(x, middle, duration(value), color=ink, fontsize=10.5, ha="right", va="center")
    _course(sheet.axes(_TIME_LEFT, bottom, _TIME_WIDTH, _ROW), route, colour, sheet.scheme, labels=last)


def _histogram(
    axes: Axes, route: RouteFacts, edges: NDArray[np.float64], colour: str, scheme: Scheme, labels: bool
) -> None:
    counts, _ = np.histogram(route.value_us.clip(edges[0], edges[-1]), bins=edges, weights=route.counts)
    share = counts / max(counts.max(), 1)
    axes.stairs(share, edges, fill=True, color=colour, alpha=0.32, zorder=2)
    axes.stairs(share, edges, color=colour, linewidth=1.3, zorder=3)
    for value, style in ((route.p50_us, "-"), (route.p99_us, (0, (4, 2)))):
        if value > 0:
            axes.axvline(value, color=scheme.ink, linewidth=1.1, linestyle=style, zorder=4)
    axes.set_xscale("log")
    axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(0, 1.12)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.grid(visible=True, axis="x", color=scheme.line, linewidth=0.7)
    _log_ticks(axes, "x", edges[0], edges[-1])
    axes.tick_params(length=0, labelbottom=labels)


def _course(axes: Axes, route: RouteFacts, colour: str, scheme: Scheme, labels: bool) -> None:
    course = route.over_time
    low, high = course.p50_us.clip(min=_FLOOR_US), course.p99_us.clip(min=_FLOOR_US)
    middle = course.steps.days() + course.steps.width_days / 2
    known = ~np.isnan(low)
    dots = 3.5 if known.sum() <= 12 else 0
    axes.fill_between(middle, low, high, color=colour, alpha=0.22, linewidth=0, zorder=2)
    axes.plot(
        middle,
        high,
        color=colour,
        linewidth=1.1,
        linestyle=(0, (4, 2)),
        marker="o",
        markersize=dots,
        zorder=3,
    )
    axes.plot(middle, low, color=colour, linewidth=1.8, marker="o", markersize=dots, zorder=3)
    axes.set_yscale("log")
    bottom, top = float(np.nanmin(low)), float(np.nanmax(high))
    axes.set_ylim(bottom / 1.8, top * 1.8)
    _log_ticks(axes, "y", bottom / 1.8, top * 1.8)
    axes.grid(visible=True, axis="y", color=scheme.line, linewidth=0.7)
    time_axis(axes, course.steps)
    axes.tick_params(length=0, labelbottom=labels)
    if not labels:
        axes.xaxis.get_offset_text().set_visible(False)


def _log_ticks(axes: Axes, which: str, low: float, high: float) -> None:
    """Ticks with units at powers of ten, or at 1, 2 and 5 where the axis is short; at most five or so."""
    decades = np.log10(high / low)
    steps = (1.0,) if decades > 1.6 else (1.0, 2.0, 5.0)
    stride = 1 if decades <= 6 or which == "x" else 2
    powers = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1, stride)
    ticks = [step * 10.0**power for power in powers for step in steps]
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(FixedLocator([tick for tick in ticks if low <= tick <= high]))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _position: duration(value)))


def _edges(facts: list[RouteFacts]) -> NDArray[np.float64]:
    """Common bins, equal on the log axis, around everything that is above the floor."""
    values = np.concatenate([route.value_us[route.value_us > 0] for route in facts] or [np.array([_FLOOR_US])])
    low = max(_FLOOR_US, float(values.min()) if len(values) else _FLOOR_US)
    high = max(low * 10, float(values.max()) if len(values) else 10.0)
    first, last = np.floor(np.log10(low)), np.ceil(np.log10(high * 1.02))
    return np.logspace(first, last, int((last - first) * _BINS_PER_DECADE) + 1)


def _heads(sheet: Sheet, bottom: float, step: str) -> None:
    wide, high = sheet.figure.get_size_inches()
    style: dict[str, Any] = {"color": sheet.scheme.muted, "fontsize": 9.5, "va": "center"}
    sheet.figure.text(_LEFT / wide, bottom / high, "how many readings, by latency (line: p50, dashed: p99)", **style)
    for column, name in enumerate(_FIGURES):
        x = (_FIGURES_LEFT + (column + 1) * _FIGURE_WIDTH - 0.05) / wide
        sheet.figure.text(x, bottom / high, name, ha="right", **style)
    sheet.figure.text(_TIME_LEFT / wide, bottom / high, f"p50 and p99 per {step}, UTC", **style)


def _note(facts: list[RouteFacts]) -> str:
    parts = ["Each histogram has its own height", "percentiles: nearest rank, within 1 %"]
    negative = sum(route.negative for route in facts)
    if negative:
        parts.append(f"{count(negative)} negative, drawn at the left edge: the clocks of their two ends disagree")
    return "  ·  ".join(parts)
