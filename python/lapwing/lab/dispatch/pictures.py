"""The experiment's pictures: how long messages take, and how the figures go with load."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from lapwing.lab.dispatch.experiment import Result
from lapwing.lab.dispatch.outcome import Row
from lapwing.lab.dispatch.scenario import DEADLINE_MS
from lapwing.pipeline.report.style import LIGHT, Sheet, fonts

_POINTS = 400
_WIDTH, _HEIGHT = 13.0, 6.4
_LEFT, _BOTTOM, _ABOVE, _RIGHT = 1.1, 0.95, 1.35, 1.75
_MARKS = "osD^vPX*<>"
_LINES = ("-", "--", ":")


def draw(result: Result, folder: Path) -> list[Path]:
    """Draws every picture into ``folder``; gives the files."""
    paths = []
    with fonts():
        for scenario in result.plan.scenarios:
            own = [row for row in result.rows if row.scenario == scenario.name]
            for load in result.plan.loads:
                rows = [row for row in own if row.load == load]
                paths.append(_tails(rows, folder / f"latency-{scenario.name}-{load * 100:.0f}.png"))
            if len(result.plan.loads) > 1:
                paths.append(_by_load(own, result.plan.subjects, folder / f"load-{scenario.name}.png"))
    return paths


def _look(number: int) -> tuple[str, str, str]:
    """Colour, line and mark of the subject of that number."""
    series = LIGHT.series
    return series[number % len(series)], _LINES[number // len(series) % len(_LINES)], _MARKS[number % len(_MARKS)]


def _tails(rows: Sequence[Row], path: Path) -> Path:
    """Share of messages that take longer than so long, both axes logarithmic."""
    head = rows[0]
    title = f"Who takes longer than ... ({head.scenario}, {head.load:.0%} load)"
    subtitle = f"Share of {head.messages:,} messages by time from due to the end of the handler; seeds: {head.seeds}"
    sheet = Sheet(LIGHT, _WIDTH, _HEIGHT, title, subtitle)
    axes = sheet.axes(_LEFT, _BOTTOM, _WIDTH - _LEFT - _RIGHT, _HEIGHT - _BOTTOM - _ABOVE)
    least = 1 / max(row.messages for row in rows)
    share = np.geomspace(1, max(least, 1e-6), _POINTS)
    for number, row in enumerate(rows):
        at = np.minimum((1 - share) * len(row.latency_ms), len(row.latency_ms) - 1).astype(int)
        colour, line, _ = _look(number)
        axes.plot(row.latency_ms[at], share, color=colour, linestyle=line, linewidth=1.8, label=row.policy)
    axes.axvline(DEADLINE_MS, color=LIGHT.muted, linewidth=1, linestyle=":")
    axes.text(DEADLINE_MS, 1.15, f"deadline of critical messages, {DEADLINE_MS} ms", color=LIGHT.muted, fontsize=8.5)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("ms")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value * 100:.10g} %"))
    axes.grid(visible=True, color=LIGHT.line, linewidth=0.6)
    _legend(axes)
    sheet.note(_note(rows))
    return sheet.save(path)


def _by_load(rows: Sequence[Row], subjects: Sequence[str], path: Path) -> Path:
    """Mean, p99 and missed deadlines by load, each with its interval."""
    sheet = Sheet(LIGHT, _WIDTH, _HEIGHT, f"By load ({rows[0].scenario})", "Bars: intervals of 95 %")
    shown = (("mean_ms", "mean, ms", 1.0), ("p99_ms", "p99, ms", 1.0), ("missed_share", "critical missed, %", 100.0))
    wide = (_WIDTH - _LEFT - _RIGHT) / len(shown)
    axes_by_figure = []
    for column, (name, label, scale) in enumerate(shown):
        axes = sheet.axes(_LEFT + column * wide, _BOTTOM, wide - 0.65, _HEIGHT - _BOTTOM - _ABOVE)
        for number, subject in enumerate(subjects):
            _course(axes, [row for row in rows if row.policy == subject], name, scale, number)
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.set_title(label, color=LIGHT.ink)
        axes.set_xlabel("load, %")
        axes.grid(visible=True, color=LIGHT.line, linewidth=0.6)
        axes_by_figure.append(axes)
    _legend(axes_by_figure[-1])
    sheet.note(_note(rows))
    return sheet.save(path)


def _course(axes: Axes, rows: Sequence[Row], name: str, scale: float, number: int) -> None:
    figures = [row.figures[name] for row in rows]
    values = np.array([figure.value for figure in figures]) * scale
    below = values - np.array([figure.low for figure in figures]) * scale
    above = np.array([figure.high for figure in figures]) * scale - values
    colour, line, mark = _look(number)
    axes.errorbar(
        [row.load * 100 for row in rows],
        np.maximum(values, 1e-3),
        yerr=(np.maximum(0, below), np.maximum(0, above)),
        color=colour,
        linestyle=line,
        marker=mark,
        markersize=5,
        linewidth=1.6,
        capsize=2.5,
        label=rows[0].policy,
    )


def _legend(axes: Axes) -> None:
    legend = axes.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0), frameon=False, fontsize=10)
    for text in legend.get_texts():
        text.set_color(LIGHT.ink)


def _note(rows: Sequence[Row]) -> str:
    cut = [f"{row.policy} {row.unfinished:,}" for row in rows if row.unfinished]
    if not cut:
        return "Every message was handled before its run ended."
    return f"Not handled when the run was cut, and counted with the time until then: {', '.join(dict.fromkeys(cut))}."
