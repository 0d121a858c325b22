"""The experiment's charts: latency, loss and the broker's stress by number of phones, a line per architecture."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter, NullLocator

from lapwing.lab.crowdsourcing.experiment import Result
from lapwing.lab.crowdsourcing.knee import LOST_SHARE_MAX
from lapwing.lab.crowdsourcing.row import Row
from lapwing.pipeline.report.style import Scheme, Sheet, empty

CHARTS = ("latency", "loss", "stress")
_WIDTH, _HEIGHT = 13.0, 6.0
_LEFT, _BOTTOM, _ABOVE, _RIGHT, _GAP = 1.0, 1.0, 1.5, 0.5, 0.95
_LEGEND = 1.9
_MARKS = "osD^vP"
_LOST_LEAST = 1e-3
"""Per cent: below, the axis of losses is linear, so that none is on it, too."""

Figure = Callable[[Row], float | None]


def draw(result: Result, scheme: Scheme, folder: Path) -> list[Path]:
    """Draws the three charts; gives the files."""
    return [
        _chart(result, scheme, folder / "latency.png", *_LATENCY),
        _chart(result, scheme, folder / "loss.png", *_LOSS),
        _chart(result, scheme, folder / "stress.png", *_STRESS),
    ]


def _hop(name: str, figure: str) -> Figure:
    def of(row: Row) -> float | None:
        one = row.latency.get(name)
        return getattr(one, figure) if one else None

    return of


def _out_of_the_broker(row: Row) -> float | None:
    """To where it is safe, or read: Kafka's log where there is one, else the subscriber."""
    one = row.latency.get("broker to Kafka") or row.latency.get("broker to controller")
    return one.p99_ms if one else None


def _lost(row: Row) -> float | None:
    return 100 * row.balance.missing / row.balance.due if row.balance.due else None


def _repeated(row: Row) -> float | None:
    return 100 * row.answer.get("repeated", 0) / row.balance.due if row.balance.due else None


def _broker(figure: Callable[..., float]) -> Figure:
    def of(row: Row) -> float | None:
        broker = row.of("broker")
        return figure(broker) if broker else None

    return of


_Panels = tuple[tuple[str, Figure, str], ...]
"""Title, what is drawn, and the axis: ``log``, ``share``, ``lost`` (with the rule's limit) or ``linear``."""

_LATENCY: tuple[str, str, _Panels] = (
    "Latency",
    "From the instant a reading was due to the controller's taking it up; and from the broker to Kafka's log, or to "
    "the subscriber; ms",
    (
        ("end to end, p50", _hop("end to end", "p50_ms"), "log"),
        ("end to end, p99", _hop("end to end", "p99_ms"), "log"),
        ("out of the broker, p99", _out_of_the_broker, "log"),
    ),
)
_LOSS: tuple[str, str, _Panels] = (
    "Loss",
    "Readings that the controller does not have, and those it got again; % of those due; dotted: what the knee allows",
    (("lost, %", _lost, "lost"), ("repeated, %", _repeated, "share")),
)
_STRESS: tuple[str, str, _Panels] = (
    "The broker's stress",
    "While readings are published: processor cores in use, most memory, most messages that waited in it",
    (
        ("cores", _broker(lambda broker: broker.cpu), "linear"),
        ("memory, MiB", _broker(lambda broker: broker.rss_bytes / 2**20), "linear"),
        ("messages waiting", _broker(lambda broker: broker.queue), "linear"),
    ),
)


def _chart(result: Result, scheme: Scheme, path: Path, title: str, subtitle: str, panels: _Panels) -> Path:
    sheet = Sheet(scheme, _WIDTH, _HEIGHT, title, subtitle)
    lines = {
        label: [row for row in rows if not row.thrown_away and not row.ended] for label, rows in result.lines().items()
    }
    wide = (_WIDTH - _LEFT - _RIGHT - _LEGEND + _GAP) / len(panels)
    axes_by_panel = []
    for column, (name, figure, axis) in enumerate(panels):
        axes = sheet.axes(_LEFT + column * wide, _BOTTOM, wide - _GAP, _HEIGHT - _BOTTOM - _ABOVE)
        axes.set_title(name, color=scheme.ink)
        if any(figure(row) is not None for rows in lines.values() for row in rows):
            _panel(axes, lines, figure, axis, scheme)
        else:
            empty(axes, scheme, "not measured")
        axes_by_panel.append(axes)
    _legend(axes_by_panel, scheme)
    sheet.note(_note(result))
    return sheet.save(path)


def _panel(axes: Axes, lines: dict[str, list[Row]], figure: Figure, axis: str, scheme: Scheme) -> None:
    for number, (label, rows) in enumerate(lines.items()):
        points = [(row.devices, value) for row in rows if (value := figure(row)) is not None]
        colour = scheme.series[number % len(scheme.series)]
        mark = _MARKS[number % len(_MARKS)]
        places, values = [at for at, _ in points], [value for _, value in points]
        # Thinner over thicker: lines that lie on each other are all seen.
        size, width = max(4.5, 8 - 1.5 * number), max(1.4, 3.4 - 0.9 * number)
        axes.plot(places, values, color=colour, marker=mark, markersize=size, linewidth=width, label=label, zorder=3)
    if axis in ("lost", "share"):
        if axis == "lost":
            axes.axhline(100 * LOST_SHARE_MAX, color=scheme.muted, linewidth=1, linestyle=":")
        axes.set_yscale("symlog", linthresh=_LOST_LEAST)
        axes.set_ylim(bottom=-_LOST_LEAST / 4, top=100)
    elif axis == "log":
        axes.set_yscale("log")
        _decades(axes)
    else:
        axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    _phones_axis(axes, sorted({row.devices for rows in lines.values() for row in rows}))
    axes.grid(visible=True, color=scheme.line, linewidth=0.6)


def _decades(axes: Axes) -> None:
    """Whole decades: small differences look small, and there is a figure on the axis in any case."""
    low, high = axes.get_ylim()
    axes.set_ylim(10 ** math.floor(math.log10(low)), 10 ** math.ceil(math.log10(high)))
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 50 else (1,)))


def _phones_axis(axes: Axes, devices: Sequence[int]) -> None:
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(list(devices)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda value, _: f"{value / 1000:,.10g}k" if value >= 1000 else f"{value:.0f}")
    )
    axes.set_xlabel("phones")


def _legend(axes_by_panel: Sequence[Axes], scheme: Scheme) -> None:
    drawn = next((axes for axes in axes_by_panel if axes.get_legend_handles_labels()[0]), None)
    if drawn is None:
        return
    handles, labels = drawn.get_legend_handles_labels()
    legend = axes_by_panel[-1].legend(handles, labels, loc="upper left", bbox_to_anchor=(1.04, 1.0), frameon=False)
    for text in legend.get_texts():
        text.set_color(scheme.ink)


def _note(result: Result) -> str:
    rate = f"readings per phone and second: {result.plan.rate:g}; {result.plan.seconds:g} s a point"
    away = [f"{row.line} at {row.devices:,}" for row in result.rows if row.thrown_away]
    ended = [f"{row.line} at {row.devices:,}" for row in result.rows if row.ended]
    parts = [rate]
    if away:
        parts.append(f"thrown away, the generator was late: {', '.join(away)}")
    if ended:
        parts.append(f"ended early: {', '.join(ended)}")
    return "; ".join(parts)
