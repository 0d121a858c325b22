"""``freshness.png``: the share of places that are fresh over time, one line per run, and what became of commands."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, PercentFormatter

from lapwing.contracts.command_tables import STATES
from lapwing.pipeline.report.freshness_facts import FreshnessFacts
from lapwing.pipeline.report.style import LIGHT, Scheme, Sheet, empty, fonts
from lapwing.pipeline.report.units import count

WIDTH, HEIGHT = 16.0, 6.0
_LEFT, _TIME_WIDTH = 0.95, 9.2
_RIGHT, _STATE_WIDTH = 12.4, 3.1
_GOOD, _BAD = ("done",), ("refused", "expired", "reassigned")


def draw_freshness(facts: FreshnessFacts | None, path: Path, scheme: Scheme = LIGHT) -> Path:
    """Draws the picture; without facts it says that there is nothing to show yet."""
    with fonts():
        return _sheet(facts, scheme).save(path)


def _sheet(facts: FreshnessFacts | None, scheme: Scheme) -> Sheet:
    if facts is None:
        sheet = Sheet(scheme, WIDTH, HEIGHT, "Freshness", "no reading with a position yet")
        empty(sheet.axes(_LEFT, 0.8, WIDTH - 2 * _LEFT, HEIGHT - 2.1), scheme, "nothing was measured")
        return sheet
    sheet = Sheet(scheme, WIDTH, HEIGHT, "Freshness", _subtitle(facts))
    _over_time(sheet.axes(_LEFT, 1.0, _TIME_WIDTH, 3.6), facts, scheme)
    _by_state(sheet.axes(_RIGHT, 1.0, _STATE_WIDTH, 3.6), facts, scheme)
    sheet.note(
        f"a place is fresh with {facts.samples_wanted} samples of the last {facts.fresh_s:g} s; places: every map tile "
        "that any of the runs has measured"
    )
    return sheet


def _over_time(axes: Axes, facts: FreshnessFacts, scheme: Scheme) -> None:
    axes.set_title(f"Fresh places, of {count(facts.places)}", color=scheme.ink)
    for run, colour in zip(facts.runs, _colours(facts, scheme), strict=True):
        axes.plot(run.seconds, run.share, color=colour, linewidth=1.8, label=f"{run.name}: {run.mean:.0%} on average")
    axes.set_ylim(0, None)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.xaxis.set_major_locator(MaxNLocator(nbins=8))
    axes.set_xlabel("seconds from the first reading", color=scheme.muted)
    axes.grid(visible=True, axis="y", color=scheme.line, linewidth=0.7)
    legend = axes.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=len(facts.runs), frameon=False, fontsize=9)
    for text in legend.get_texts():
        text.set_color(scheme.ink)


def _by_state(axes: Axes, facts: FreshnessFacts, scheme: Scheme) -> None:
    states = {name: sum(run.states.get(name, 0) for run in facts.runs) for name in STATES}
    shown = [(name, number) for name, number in states.items() if number]
    axes.set_title("Commands by state", color=scheme.ink)
    if not shown:
        return empty(axes, scheme, "none")
    colours = [scheme.good if name in _GOOD else scheme.bad if name in _BAD else scheme.muted for name, _ in shown]
    place = np.arange(len(shown))
    axes.barh(place, [number for _, number in shown], height=0.7, color=colours, zorder=2)
    axes.set_yticks(place, [name for name, _ in shown], fontsize=9, color=scheme.muted)
    axes.set_ylim(max(len(shown), 4) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=4, integer=True))
    axes.grid(visible=True, axis="x", color=scheme.line, linewidth=0.7)
    return None


def _colours(facts: FreshnessFacts, scheme: Scheme) -> list[str]:
    """The last run is the one to look at."""
    return [*scheme.series[1 : len(facts.runs)], scheme.series[0]]


def _subtitle(facts: FreshnessFacts) -> str:
    last, before = facts.runs[-1], facts.runs[:-1]
    told = [f"{run.name}: {count(run.readings)} readings" for run in facts.runs]
    ratio = [f"{last.mean / run.mean:.1f} x {run.name}" for run in before if run.mean]
    return ", ".join([*told, *ratio])
