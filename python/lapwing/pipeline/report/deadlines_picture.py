"""``deadlines.png``: deadlines missed and dead letters over time, and with whom."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from lapwing.pipeline.report.data_text import plain
from lapwing.pipeline.report.deadlines_facts import DeadlineFacts, Series, deadline_facts
from lapwing.pipeline.report.style import LIGHT, Scheme, Sheet, empty, fonts
from lapwing.pipeline.report.time_steps import TimeSteps, time_axis
from lapwing.pipeline.report.units import count, duration
from lapwing.pipeline.report.whole import drawing

WIDTH, HEIGHT = 16.0, 7.6
ROWS_SHOWN_MAX = 10
KINDS_SHOWN_MAX = 5
_LEFT, _TIME_WIDTH = 0.95, 8.4
_RIGHT, _ROW_WIDTH = 12.2, 3.35
_LABEL_CHARS_MAX = 30


def draw_deadlines(out: Path, scheme: Scheme = LIGHT) -> Path:
    """Draws ``out/deadlines.png`` from ``out/tables``; without rows it says that nothing was late.

    Raises:
        ReportError: a table is missing or cannot be read.
    """
    facts = deadline_facts(out)
    with drawing(out), fonts():
        return _sheet(facts, scheme).save(out / "deadlines.png")


def _sheet(facts: DeadlineFacts | None, scheme: Scheme) -> Sheet:
    if facts is None:
        sheet = Sheet(scheme, WIDTH, HEIGHT, "Deadlines", "no miss and no dead letter")
        empty(sheet.axes(_LEFT, 0.8, WIDTH - 2 * _LEFT, HEIGHT - 2.1), scheme, "nothing was late")
        return sheet
    sheet = Sheet(scheme, WIDTH, HEIGHT, "Deadlines", _subtitle(facts))
    for bottom, title, whose, series in (
        (4.15, "Deadlines missed", "By group and member", facts.misses),
        (0.95, "Dead letters", "By group", facts.dead_letters),
    ):
        _over_time(sheet.axes(_LEFT, bottom, _TIME_WIDTH, 2.05), title, series, facts.steps, scheme)
        _by_row(sheet.axes(_RIGHT, bottom, _ROW_WIDTH, 2.05), whose, series, scheme)
    sheet.note(
        "by the minute of the broker's clock; a member with (waiting): the message was late before anybody had it"
    )
    return sheet


def _over_time(axes: Axes, title: str, series: Series, steps: TimeSteps, scheme: Scheme) -> None:
    axes.set_title(f"{title}, per {steps.name}", color=scheme.ink)
    if not series.total:
        return empty(axes, scheme, "none")
    below = np.zeros(len(steps.start_us))
    kinds, colours = _kinds(series), iter((*scheme.series, scheme.muted))
    for kind, counts in kinds.items():
        colour = scheme.bad if kind == "critical" else next(colours)
        width = steps.width_days * 0.92
        axes.bar(
            steps.days(),
            counts,
            width,
            bottom=below,
            align="edge",
            color=colour,
            label=plain(kind, _LABEL_CHARS_MAX),
            zorder=2,
        )
        below += counts
    # Above the axes, where no bar can be hidden.
    legend = axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=len(kinds), frameon=False, fontsize=9)
    for text in legend.get_texts():
        text.set_color(scheme.ink)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=5, integer=True, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _position: f"{value:,.0f}"))
    axes.grid(visible=True, axis="y", color=scheme.line, linewidth=0.7)
    return time_axis(axes, steps)


def _kinds(series: Series) -> dict[str, NDArray[np.int64]]:
    """The kinds with the most, as many as a legend can hold; the rest as one."""
    ranked = sorted(series.by_kind.items(), key=lambda pair: (-int(pair[1].sum()), pair[0]))
    shown = dict(ranked[:KINDS_SHOWN_MAX])
    if rest := [counts for _, counts in ranked[KINDS_SHOWN_MAX:]]:
        shown["others"] = np.sum(rest, axis=0)
    return shown


def _by_row(axes: Axes, title: str, series: Series, scheme: Scheme) -> None:
    if not series.total:
        return empty(axes, scheme, "")
    shown = list(series.by_row.items())[:ROWS_SHOWN_MAX]
    left = len(series.by_row) - len(shown)
    axes.barh(np.arange(len(shown)), [number for _, number in shown], height=0.7, color=scheme.series[0], zorder=2)
    axes.set_title(title, color=scheme.ink)
    axes.set_yticks(
        range(len(shown)), [plain(name, _LABEL_CHARS_MAX) for name, _ in shown], fontsize=8.5, color=scheme.muted
    )
    axes.set_ylim(max(len(shown), 4) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=4, integer=True))
    axes.grid(visible=True, axis="x", color=scheme.line, linewidth=0.7)
    if left:
        axes.set_xlabel(f"the most; and {count(left)} more")
    return None


def _subtitle(facts: DeadlineFacts) -> str:
    worst = "" if facts.late_ms_max is None else f", the worst by {duration(facts.late_ms_max * 1000.0)}"
    critical = int(facts.misses.by_kind.get("critical", np.zeros(1, dtype=np.int64)).sum())
    missed = f"{count(facts.misses.total)} deadlines missed ({count(critical)} critical{worst})"
    return f"{missed}, {count(facts.dead_letters.total)} dead letters"
