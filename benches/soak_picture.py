"""The soak as a picture: memory, disk, descriptors and latency over time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.ticker import FuncFormatter

from benches.soak_samples import Sample
from lapwing.pipeline.report.style import LIGHT, Sheet, fonts

_WIDTH, _HEIGHT = 13.0, 7.6
_PANELS = (
    ("memory_bytes", "memory, MiB", 2.0**20),
    ("disk_bytes", "disk, MiB", 2.0**20),
    ("descriptors", "open files and sockets", 1.0),
    ("p99_ms", "p50 and p99 of the probe, ms", 1.0),
)


def draw(samples: Sequence[Sample], title: str, note: str, path: Path) -> Path:
    """Four panels over minutes."""
    with fonts():
        sheet = Sheet(LIGHT, _WIDTH, _HEIGHT, title, "What the broker takes up, and how long a durable message takes")
        for place, (figure, label, unit) in enumerate(_PANELS):
            row, column = divmod(place, 2)
            axes = sheet.axes(0.9 + column * 6.2, 0.9 + (1 - row) * 3.1, 5.3, 2.25)
            minutes = [sample.at_s / 60 for sample in samples]
            axes.plot(minutes, [getattr(sample, figure) / unit for sample in samples], color=LIGHT.series[0])
            if figure == "p99_ms":
                axes.plot(minutes, [sample.p50_ms for sample in samples], color=LIGHT.series[1])
                axes.set_yscale("log")
                axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
            else:
                axes.set_ylim(bottom=0)
            axes.set_title(label, color=LIGHT.ink)
            axes.set_xlabel("minutes")
            axes.grid(visible=True, color=LIGHT.line, linewidth=0.6)
        sheet.note(note)
        return sheet.save(path)
