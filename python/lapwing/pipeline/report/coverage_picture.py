"""``coverage.png``: signal strength on a map, the network with most readings large, others small, and how busy its
channels are.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import Normalize
from numpy.typing import NDArray

from lapwing.pipeline.report import map_axes
from lapwing.pipeline.report.coverage_facts import CoverageFacts, Layer
from lapwing.pipeline.report.data_text import plain
from lapwing.pipeline.report.style import Scheme, Sheet, empty

WIDTH, HEIGHT = 16.0, 8.6
MAP_WIDTH, MAP_HEIGHT = 7.2, 6.55
ASPECT = MAP_WIDTH / MAP_HEIGHT
"""Width over height of the maps, large and small."""

_LEFT, _BOTTOM = 0.95, 0.85
_SMALL_LEFT, _SMALL_GAP = 9.4, 0.22
_SMALL_SPACE = 6.18
"""For all small maps of a row, with the gaps between them."""
_SMALL_TITLE = 0.5
_NAME_CHARS_MAX = 32


@dataclass(frozen=True, slots=True)
class Grid:
    """Small maps side by side, from the top; sizes in inches.

    Attributes:
        abreast: How many in a row.
        name_chars: What of a name there is room for.
        font: Of the titles, in points.
    """

    abreast: int
    name_chars: int
    font: float

    @property
    def width(self) -> float:
        """Of one map."""
        return (_SMALL_SPACE - (self.abreast - 1) * _SMALL_GAP) / self.abreast

    def place(self, index: int) -> tuple[float, float, float]:
        """Left, bottom and width of a map."""
        row, column = divmod(index, self.abreast)
        bottom = _BOTTOM + MAP_HEIGHT - self.width / ASPECT - row * (MAP_HEIGHT + _SMALL_TITLE) / self.abreast
        return _SMALL_LEFT + column * (self.width + _SMALL_GAP), bottom, self.width


FEW, MANY = Grid(2, 28, 9.0), Grid(3, 26, 7.5)
"""Four small maps, or nine."""


def draw_coverage(facts: CoverageFacts | None, scheme: Scheme, path: Path) -> Path:
    """Draws the picture; without facts it says that there is nothing to show yet."""
    if facts is None:
        sheet = Sheet(scheme, WIDTH, HEIGHT, "Coverage", "no reading with a position yet")
        empty(sheet.axes(_LEFT, _BOTTOM, WIDTH - 2 * _LEFT, MAP_HEIGHT), scheme, "the coverage table is empty")
        return sheet.save(path)
    sheet = Sheet(scheme, WIDTH, HEIGHT, "Coverage", _subtitle(facts))
    norm = _strength_norm(np.concatenate([layer.rsrp_p50_dbm for layer in facts.networks]))
    large = sheet.axes(_LEFT, _BOTTOM, MAP_WIDTH, MAP_HEIGHT)
    first = facts.networks[0]
    mesh = _strength_map(large, facts, first, scheme, norm, labels=True)
    large.set_title(_title(first), pad=5, color=scheme.ink)
    map_axes.scale_bar(large, facts.frame, scheme)
    _strength_bar(sheet, large, mesh, facts)
    _small_maps(sheet, facts, scheme, norm)
    sheet.note(_note(facts))
    return sheet.save(path)


def _strength_map(
    axes: Axes, facts: CoverageFacts, layer: Layer, scheme: Scheme, norm: Normalize, labels: bool
) -> QuadMesh:
    map_axes.prepare(axes, facts.frame, scheme, labels)
    return map_axes.fill(axes, facts.frame, layer, layer.rsrp_p50_dbm, scheme.strength(), norm, gaps=labels)


def _strength_norm(values: NDArray[np.float64]) -> Normalize:
    known = values[~np.isnan(values)]
    if not len(known):
        return Normalize(-120, -80)
    low, high = np.percentile(known, [2, 98])
    low, high = 5 * np.floor(low / 5), 5 * np.ceil(high / 5)
    middle, half = (low + high) / 2, max(high - low, 20) / 2
    return Normalize(float(middle - half), float(middle + half))


def _strength_bar(sheet: Sheet, large: Axes, mesh: QuadMesh, facts: CoverageFacts) -> None:
    scheme = sheet.scheme
    axes = sheet.axes(_LEFT + MAP_WIDTH + 0.18, _BOTTOM, 0.16, MAP_HEIGHT)
    bar = large.figure.colorbar(mesh, cax=axes, extend="both", extendfrac=0.02)
    bar.outline.set_visible(False)
    axes.set_title("dBm", fontsize=9.5, fontweight="normal", color=scheme.muted, loc="left", pad=6)
    axes.tick_params(colors=scheme.muted, labelcolor=scheme.muted, labelsize=9.5)
    low, high = mesh.get_clim()
    if low is not None and high is not None and low <= facts.served_dbm <= high:
        axes.axhline(facts.served_dbm, color=scheme.paper, linewidth=2.4)
        axes.axhline(facts.served_dbm, color=scheme.ink, linewidth=1.0)


def _small_maps(sheet: Sheet, facts: CoverageFacts, scheme: Scheme, norm: Normalize) -> None:
    """Further networks, and last the occupancy of the first, as many as there is room for."""
    first = facts.networks[0]
    busy = not np.isnan(first.occupied_share).all()
    grid = FEW if len(facts.networks) - 1 + busy <= FEW.abreast**2 else MANY
    layers = facts.networks[1 : shown(facts)]
    for index, layer in enumerate(layers):
        left, bottom, width = grid.place(index)
        axes = sheet.axes(left, bottom, width, width / ASPECT)
        _strength_map(axes, facts, layer, scheme, norm, labels=False)
        _small_title(axes, layer.name, _counts(layer, lines=2 if grid is MANY else 1), grid, scheme)
    if busy:
        _busy_map(sheet, facts, first, grid, grid.place(len(layers)))


def shown(facts: CoverageFacts) -> int:
    """How many networks have a map: where there is an occupancy to show it takes the last place."""
    busy = not np.isnan(facts.networks[0].occupied_share).all()
    return min(len(facts.networks), 1 + MANY.abreast**2 - busy)


def _busy_map(sheet: Sheet, facts: CoverageFacts, layer: Layer, grid: Grid, place: tuple[float, float, float]) -> None:
    scheme = sheet.scheme
    left, bottom, width = place
    axes = sheet.axes(left, bottom, width, width / ASPECT)
    map_axes.prepare(axes, facts.frame, scheme, labels=False)
    mesh = map_axes.fill(
        axes, facts.frame, layer, layer.occupied_share, scheme.occupancy(), Normalize(0, 1), gaps=False
    )
    _small_title(axes, layer.name, "share of time occupied", grid, scheme)
    bar_axes = sheet.axes(left, bottom - 0.18, width, 0.1)
    bar = sheet.figure.colorbar(mesh, cax=bar_axes, orientation="horizontal", ticks=[0, 0.5, 1])
    bar.outline.set_visible(False)
    bar_axes.set_xticklabels(["0", "50 %", "100 %"])
    bar_axes.tick_params(colors=scheme.muted, labelcolor=scheme.muted, labelsize=8.5, length=0)


def _small_title(axes: Axes, name: str, told: str, grid: Grid, scheme: Scheme) -> None:
    """On lines of their own: small maps stand side by side."""
    axes.set_title(f"{plain(name, grid.name_chars)}\n{told}", pad=4, color=scheme.ink, fontsize=grid.font)


def _title(layer: Layer) -> str:
    return f"{plain(layer.name, _NAME_CHARS_MAX)}: {_counts(layer)}"


def _counts(layer: Layer, lines: int = 1) -> str:
    """How many readings a layer has, and how many a tile: the median and the most."""
    samples = np.sort(layer.samples)
    between = "\n" if lines > 1 else ", "
    per_tile = f"{samples[(len(samples) - 1) // 2]:,} per tile, at most {samples[-1]:,}"
    return f"{int(samples.sum()):,} readings{between}{per_tile}"


def _subtitle(facts: CoverageFacts) -> str:
    size = f"tiles of zoom {facts.frame.zoom}"
    if facts.frame.merged > 1:
        size += f", each {facts.frame.merged} by {facts.frame.merged} of the table's"
    return f"Median signal strength (RSRP) of {facts.samples:,} readings, {size}"


def _note(facts: CoverageFacts) -> str:
    span = f"Measured {facts.first:%Y-%m-%d %H:%M} to {facts.last:%Y-%m-%d %H:%M} UTC"
    parts = [span, f"line on the scale: served from {facts.served_dbm} dBm"]
    if facts.rsrp_known < facts.samples:
        parts.append(f"{facts.samples - facts.rsrp_known:,} readings without RSRP (outlined where a tile has no other)")
    if left_out := facts.networks_left_out + len(facts.networks) - shown(facts):
        parts.append(f"{left_out:,} networks more in the report's table")
    if facts.tiles_outside:
        parts.append(f"{facts.tiles_outside:,} far tiles outside the map")
    return "  ·  ".join(parts)
