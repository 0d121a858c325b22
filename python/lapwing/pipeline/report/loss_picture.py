"""``loss.png``: what arrived over time, what went wrong over time, and which devices it happened to."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from lapwing.pipeline.report.data_text import plain
from lapwing.pipeline.report.loss_facts import LossFacts
from lapwing.pipeline.report.style import Scheme, Sheet, empty
from lapwing.pipeline.report.time_steps import time_axis
from lapwing.pipeline.report.units import count, share

WIDTH, HEIGHT = 16.0, 7.6
DEVICES_SHOWN_MAX = 18
_LEFT, _TIME_WIDTH = 0.95, 8.0
_RIGHT, _DEVICE_WIDTH = 11.0, 4.55
_LABEL_CHARS_MAX = 24
KINDS = ("lost", "quarantined", "recovered", "repeated", "reordered")


def draw_loss(facts: LossFacts | None, scheme: Scheme, path: Path) -> Path:
    """Draws the picture; without facts it says that there is nothing to show yet."""
    if facts is None:
        sheet = Sheet(scheme, WIDTH, HEIGHT, "Loss", "no reading yet")
        empty(sheet.axes(_LEFT, 0.8, WIDTH - 2 * _LEFT, HEIGHT - 2.1), scheme, "the quality table is empty")
        return sheet.save(path)
    sheet = Sheet(scheme, WIDTH, HEIGHT, "Loss", _subtitle(facts))
    _arrivals(sheet.axes(_LEFT, 4.2, _TIME_WIDTH, 1.95), facts, scheme)
    _trouble(sheet.axes(_LEFT, 0.95, _TIME_WIDTH, 2.25), facts, scheme)
    _devices(sheet.axes(_RIGHT, 0.95, _DEVICE_WIDTH, 5.2), facts, scheme)
    sheet.note(
        "lost = serials skipped less those recovered later, without those that arrived broken; what is lost after a "
        "device's last reading shows when the next one arrives"
    )
    return sheet.save(path)


def _arrivals(axes: Axes, facts: LossFacts, scheme: Scheme) -> None:
    steps = facts.arrivals_steps
    axes.bar(
        steps.days(),
        facts.arrivals,
        width=steps.width_days * 0.92,
        align="edge",
        color=scheme.series[0],
        zorder=2,
    )
    axes.set_title(f"Readings that arrived, per {steps.name}", color=scheme.ink)
    _count_axis(axes, scheme)
    time_axis(axes, steps)


def _trouble(axes: Axes, facts: LossFacts, scheme: Scheme) -> None:
    steps = facts.steps
    axes.set_title(f"{', '.join(KINDS).capitalize()}, per {steps.name}", color=scheme.ink)
    if facts.clean:
        empty(axes, scheme, "")
        axes.text(0.5, 0.5, "nothing lost, nothing repeated, everything in order", transform=axes.transAxes,
                  ha="center", va="center", color=scheme.good, fontsize=13, fontweight="bold")  # fmt: skip
        return
    width = steps.width_days * 0.86 / len(KINDS)
    for index, kind in enumerate(KINDS):
        left = steps.days() + steps.width_days * 0.07 + index * width
        colour = _colours(scheme)[kind]
        axes.bar(left, facts.over_time[kind], width, align="edge", color=colour, label=kind, zorder=2)
    _legend(axes, scheme)
    _count_axis(axes, scheme)
    time_axis(axes, steps)


def _devices(axes: Axes, facts: LossFacts, scheme: Scheme) -> None:
    trouble = sum(facts.per_device[kind] for kind in KINDS)
    if np.any(trouble):
        _worst_devices(axes, facts, scheme, np.asarray(trouble))
    elif len(facts.devices) <= DEVICES_SHOWN_MAX:
        _few_devices(axes, facts, scheme)
    else:
        _many_devices(axes, facts, scheme)


def _worst_devices(axes: Axes, facts: LossFacts, scheme: Scheme, trouble: NDArray[np.int64]) -> None:
    sent = facts.sent_per_device
    order = np.lexsort((np.array(facts.devices), -trouble / np.maximum(sent, 1)))
    shown = [index for index in order[:DEVICES_SHOWN_MAX] if trouble[index]]
    place = np.arange(len(shown))
    begun = np.zeros(len(shown))
    for kind in KINDS:
        part = 100 * np.abs(facts.per_device[kind][shown]) / np.maximum(sent[shown], 1)
        axes.barh(place, part, left=begun, height=0.7, color=_colours(scheme)[kind], zorder=2)
        begun += part
    affected = int(np.count_nonzero(trouble))
    _name_rows(axes, facts, scheme, shown)
    axes.set_title(f"Per device: {count(affected)} of {count(len(facts.devices))} affected", color=scheme.ink)
    axes.set_xlabel("% of the readings it sent" + (", worst first" if affected > 1 else ""))
    axes.grid(visible=True, axis="x", color=scheme.line, linewidth=0.7)


def _few_devices(axes: Axes, facts: LossFacts, scheme: Scheme) -> None:
    order = list(np.argsort(np.array(facts.devices)))
    received = facts.per_device["received"][order]
    axes.barh(np.arange(len(order)), received, height=0.7, color=scheme.series[0], zorder=2)
    _name_rows(axes, facts, scheme, order)
    axes.set_title("Readings per device, none lost", color=scheme.ink)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=5, integer=True))
    axes.grid(visible=True, axis="x", color=scheme.line, linewidth=0.7)


def _many_devices(axes: Axes, facts: LossFacts, scheme: Scheme) -> None:
    received = facts.per_device["received"]
    spread = int(received.max() - received.min()) + 1
    bins = min(spread, 24)
    edges = np.linspace(received.min() - 0.5, received.max() + 0.5, bins + 1)
    counts, _ = np.histogram(received, bins=edges)
    gap = 0.08 * (edges[1] - edges[0])
    axes.bar(
        edges[:-1] + gap,
        counts,
        width=np.diff(edges) - 2 * gap,
        align="edge",
        color=scheme.series[0],
        zorder=2,
    )
    axes.set_title(f"{count(len(facts.devices))} devices, none with loss", color=scheme.ink)
    axes.set_xlabel("readings of a device")
    axes.set_ylabel("devices")
    middle, half = (edges[0] + edges[-1]) / 2, max(edges[-1] - edges[0], 8) / 2
    axes.set_xlim(middle - half, middle + half)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    _count_axis(axes, scheme)


def _name_rows(axes: Axes, facts: LossFacts, scheme: Scheme, shown: list[int]) -> None:
    names = [facts.devices[index] for index in shown]
    short = [plain(name, _LABEL_CHARS_MAX) for name in names]
    axes.set_yticks(range(len(shown)), short, fontsize=9, color=scheme.muted)
    axes.set_ylim(max(len(shown), 6) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)


def _count_axis(axes: Axes, scheme: Scheme) -> None:
    axes.yaxis.set_major_locator(MaxNLocator(nbins=5, integer=True, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _position: f"{value:,.0f}"))
    axes.grid(visible=True, axis="y", color=scheme.line, linewidth=0.7)


def _legend(axes: Axes, scheme: Scheme) -> None:
    legend = axes.legend(loc="upper right", facecolor=scheme.paper, edgecolor=scheme.line, fontsize=9, framealpha=0.9)
    for text in legend.get_texts():
        text.set_color(scheme.ink)


def _colours(scheme: Scheme) -> dict[str, str]:
    return {
        "lost": scheme.bad,
        "quarantined": scheme.series[4],
        "recovered": scheme.series[2],
        "repeated": scheme.series[0],
        "reordered": scheme.series[3],
    }


def _subtitle(facts: LossFacts) -> str:
    totals = facts.totals
    lost = f"{count(totals['lost'])} lost ({share(totals['lost'] / max(facts.sent, 1))})"
    rest = ", ".join(f"{count(totals[kind])} {kind}" for kind in KINDS[1:])
    told = f"{count(totals['received'])} readings of {count(len(facts.devices))} devices arrived: {lost}, {rest}"
    before = totals["before_start"]
    return f"{told}; {count(before)} came before the job began" if before else told
