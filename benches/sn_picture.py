"""Latency by number of clients, as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.ticker import FuncFormatter, NullLocator

from benches.sn_latency import RATE_PER_S, Point
from lapwing.pipeline.report.style import LIGHT, Sheet, fonts

_WIDTH, _HEIGHT = 13.0, 5.0
_PANELS = (("mean_ms", "mean"), ("p50_ms", "half of the messages (p50)"), ("p99_ms", "p99"))


def draw(points: Sequence[Point], note: str, path: Path) -> Path:
    """Mean, p50 and p99 over the number of clients, a line for each subject."""
    subtitle = f"From due time to arrival, ms, by number of clients; {RATE_PER_S:,} messages/s in all, QoS 0, 64 B"
    with fonts():
        sheet = Sheet(LIGHT, _WIDTH, _HEIGHT, "Latency of MQTT-SN beside TCP", subtitle)
        counts = sorted({point.clients for point in points})
        for column, (figure, label) in enumerate(_PANELS):
            axes = sheet.axes(0.8 + column * 4.1, 1.0, 3.5, 2.6)
            for number, subject in enumerate(dict.fromkeys(point.subject for point in points)):
                own = [point for point in points if point.subject == subject]
                axes.plot(
                    [point.clients for point in own],
                    [getattr(point, figure) for point in own],
                    color=LIGHT.series[number],
                    marker="o",
                    markersize=4,
                    label=subject,
                )
            axes.set_xscale("log")
            axes.xaxis.set_minor_locator(NullLocator())
            axes.set_xticks(counts)
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
            # The lines are to stay below the legend.
            axes.set_ylim(0, 1.4 * max(getattr(point, figure) for point in points))
            axes.set_title(label, color=LIGHT.ink)
            axes.set_xlabel("clients")
            axes.grid(visible=True, color=LIGHT.line, linewidth=0.6)
            if column == 0:
                axes.legend(loc="upper left", frameon=False, labelcolor=LIGHT.ink, fontsize=9)
        sheet.note(note)
        path.parent.mkdir(parents=True, exist_ok=True)
        return sheet.save(path)
