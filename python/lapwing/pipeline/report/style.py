"""How the pictures look: two schemes, one set of sizes."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib import colormaps, rc_context
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap
from matplotlib.figure import Figure

from lapwing.pipeline.report.whole import whole

DPI = 150
_FONTS = ["Inter", "Helvetica Neue", "Arial", "Liberation Sans", "DejaVu Sans"]
_RC: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.size": 10.5,
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.major.size": 3,
    "ytick.major.size": 3,
    "svg.fonttype": "none",
}


@dataclass(frozen=True, slots=True)
class Scheme:
    """Colours of one scheme; ``series`` tells kinds apart, also for colour-blind eyes (Okabe and Ito,
    adapted).
    """

    name: str
    paper: str
    panel: str
    ink: str
    muted: str
    line: str
    good: str
    bad: str
    series: tuple[str, ...]

    def strength(self) -> Colormap:
        """Weak to strong signal: perceptually even, and away from the panel's colour at both ends."""
        low, high = (0.0, 0.94) if self.name == "light" else (0.16, 1.0)
        return _part("viridis", low, high)

    def occupancy(self) -> Colormap:
        """Free to occupied."""
        return _part("magma_r", 0.08, 0.9) if self.name == "light" else _part("magma", 0.2, 0.97)


LIGHT = Scheme(
    name="light",
    paper="#ffffff",
    panel="#eef1f4",
    ink="#17212b",
    muted="#5c6975",
    line="#d3dae0",
    good="#1b7f5c",
    bad="#c2410c",
    series=("#0072b2", "#d55e00", "#009e73", "#b0548f", "#8a7000"),
)
DARK = Scheme(
    name="dark",
    paper="#14191f",
    panel="#1d242c",
    ink="#e8edf2",
    muted="#9aa7b4",
    line="#33404c",
    good="#4cc79a",
    bad="#ff8a5c",
    series=("#56b4e9", "#f09355", "#35c795", "#e08fc0", "#e0cf4a"),
)


class Sheet:
    """A figure in one scheme: made, filled by a painter, saved.

    Args:
        scheme: Its colours.
        width, height: In inches.
        title, subtitle: Upper left; the subtitle says what is shown, in which units.
    """

    def __init__(self, scheme: Scheme, width: float, height: float, title: str, subtitle: str) -> None:
        self.scheme = scheme
        self.figure = Figure(figsize=(width, height), dpi=DPI, facecolor=scheme.paper, layout=None)
        left, top = 0.45 / width, 1 - 0.42 / height
        self.figure.text(left, top, title, fontsize=18, fontweight="bold", color=scheme.ink, va="center")
        below = 1 - 0.78 / height
        self.figure.text(left, below, subtitle, fontsize=10.5, color=scheme.muted, va="center")

    def axes(self, left: float, bottom: float, width: float, height: float) -> Axes:
        """Axes at a place given in inches from the lower left corner."""
        wide, high = self.figure.get_size_inches()
        axes = self.figure.add_axes((left / wide, bottom / high, width / wide, height / high))
        dress(axes, self.scheme)
        return axes

    def note(self, text: str) -> None:
        """A line in the lower left corner: what was left out, where the data comes from."""
        wide, high = self.figure.get_size_inches()
        self.figure.text(0.45 / wide, 0.22 / high, text, fontsize=8.5, color=self.scheme.muted, va="center")

    def save(self, path: Path) -> Path:
        """Writes the PNG."""
        with whole(path) as part:
            self.figure.savefig(
                part, format="png", dpi=DPI, facecolor=self.scheme.paper, metadata={"Software": "Lapwing"}
            )
        return path


def dress(axes: Axes, scheme: Scheme) -> None:
    """Gives axes the scheme's colours."""
    axes.set_facecolor(scheme.panel)
    for spine in axes.spines.values():
        spine.set_color(scheme.line)
    axes.tick_params(colors=scheme.muted, labelcolor=scheme.muted, labelsize=9.5)
    axes.xaxis.label.set_color(scheme.muted)
    axes.yaxis.label.set_color(scheme.muted)
    axes.title.set_color(scheme.ink)
    axes.set_axisbelow(True)


def empty(axes: Axes, scheme: Scheme, text: str) -> None:
    """Says in the middle of empty axes why they are empty."""
    axes.set_xticks([])
    axes.set_yticks([])
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color=scheme.muted, fontsize=11)


def fonts() -> AbstractContextManager[None]:
    """The settings under which every picture is drawn; a context manager."""
    from matplotlib.font_manager import fontManager

    installed = {font.name for font in fontManager.ttflist}
    settings: Any = _RC | {"font.sans-serif": [name for name in _FONTS if name in installed]}
    return rc_context(settings)


def _part(name: str, low: float, high: float) -> Colormap:
    base = colormaps[name]
    colours = [base(low + (high - low) * step / 255) for step in range(256)]
    return LinearSegmentedColormap.from_list(f"{name}-part", colours)
