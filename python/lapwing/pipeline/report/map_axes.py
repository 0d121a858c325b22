"""Axes that are a map: tiles as pixels of the projection, degrees along the edges, a bar that says how long
a km is.
"""

from __future__ import annotations

from math import ceil, floor, log10

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection, QuadMesh
from matplotlib.colors import Colormap, Normalize
from matplotlib.patches import Rectangle
from matplotlib.patheffects import withStroke
from numpy.typing import NDArray

from lapwing.pipeline.report import mercator
from lapwing.pipeline.report.coverage_facts import Layer
from lapwing.pipeline.report.map_frame import Frame
from lapwing.pipeline.report.style import Scheme

_GAP_CELLS_MAX = 90
"""Up to so many tiles across, a thin gap between tiles shows them as tiles."""
_OUTLINES_MAX = 2_000
_OUTLINE = np.array([(0.15, 0.15), (0.85, 0.15), (0.85, 0.85), (0.15, 0.85)])
"""Of a tile whose value is unknown, from its corner."""


def prepare(axes: Axes, frame: Frame, scheme: Scheme, labels: bool) -> None:
    """Gives axes the frame's extent, a graticule and (with ``labels``) degrees along two edges."""
    axes.set_xlim(frame.left, frame.right)
    axes.set_ylim(frame.bottom, frame.top)
    axes.set_aspect("equal", adjustable="box")
    for spine in axes.spines.values():
        spine.set_visible(True)
    west, east = mercator.lon_of(frame.left, frame.zoom), mercator.lon_of(frame.right, frame.zoom)
    south, north = mercator.lat_of(frame.bottom, frame.zoom), mercator.lat_of(frame.top, frame.zoom)
    meridians, decimals_x = _round_steps(west, east, 6 if labels else 3)
    parallels, decimals_y = _round_steps(south, north, 7 if labels else 3)
    axes.set_xticks([mercator.x_of(lon, frame.zoom) for lon in meridians])
    axes.set_yticks([mercator.y_of(lat, frame.zoom) for lat in parallels])
    axes.grid(visible=True, color=scheme.line, linewidth=0.6)
    if labels:
        axes.set_xticklabels([_degrees(lon, decimals_x, "E", "W") for lon in meridians])
        axes.set_yticklabels([_degrees(lat, decimals_y, "N", "S") for lat in parallels])
    else:
        axes.tick_params(length=0, labelbottom=False, labelleft=False)


def fill(
    axes: Axes,
    frame: Frame,
    layer: Layer,
    values: NDArray[np.float64],
    colours: Colormap,
    norm: Normalize,
    gaps: bool,
) -> QuadMesh:
    """Draws a layer's tiles, coloured by ``values``; tiles whose value is unknown are drawn as outlines.

    Args:
        gaps: Leave a thin line between tiles, where they are large enough for that.
    """
    left, top = floor(frame.left), floor(frame.top)
    width, height = ceil(frame.right) - left, ceil(frame.bottom) - top
    grid = np.full((height, width), np.nan)
    grid[layer.y - top, layer.x - left] = values
    gaps = gaps and frame.right - frame.left <= _GAP_CELLS_MAX
    mesh = axes.pcolormesh(
        np.arange(left, left + width + 1),
        np.arange(top, top + height + 1),
        np.ma.masked_invalid(grid),
        cmap=colours,
        norm=norm,
        edgecolors=axes.get_facecolor() if gaps else "none",
        linewidth=0.5 if gaps else 0,
        antialiased=gaps,
        rasterized=True,
        zorder=2,
    )
    unknown = np.flatnonzero(np.isnan(values))[:_OUTLINES_MAX]
    corners = np.stack([layer.x[unknown], layer.y[unknown]], axis=1)[:, np.newaxis, :] + _OUTLINE
    outlines = PolyCollection(corners, facecolors="none", edgecolors="#8b98a5", linewidths=0.6, zorder=2)
    axes.add_collection(outlines, autolim=False)
    return mesh


def scale_bar(axes: Axes, frame: Frame, scheme: Scheme) -> None:
    """A bar of a round length, true for the middle of the map, in its lower left corner."""
    tile_km = mercator.tile_km((frame.top + frame.bottom) / 2, frame.zoom)
    width_km = (frame.right - frame.left) * tile_km
    length_km = _round_below(width_km / 4)
    wide, high = frame.right - frame.left, frame.bottom - frame.top
    x, y = frame.left + 0.035 * wide, frame.bottom - 0.045 * high
    end = x + length_km / tile_km
    pad = 0.018 * high
    plate = Rectangle((x - pad, y + pad), end - x + 2 * pad, -0.075 * high, color=scheme.paper, alpha=0.8, linewidth=0)
    axes.add_patch(plate).set_zorder(4)
    halo = [withStroke(linewidth=4, foreground=scheme.paper)]
    axes.plot([x, x, end, end], [y - 0.01 * high, y, y, y - 0.01 * high], color=scheme.ink, linewidth=1.6,
              solid_capstyle="butt", path_effects=halo, zorder=5)  # fmt: skip
    text = f"{length_km:g} km" if length_km >= 1 else f"{length_km * 1000:g} m"
    axes.text((x + end) / 2, y - 0.018 * high, text, ha="center", va="bottom", fontsize=9.5, color=scheme.ink,
              path_effects=halo, zorder=5)  # fmt: skip


def _round_steps(low: float, high: float, count: int) -> tuple[list[float], int]:
    """Round values between ``low`` and ``high``, at most ``count``, and the decimals that they need."""
    raw = (high - low) / count
    exponent = floor(log10(raw))
    step = next(step for step in (1, 2, 5, 10) if step * 10**exponent >= raw) * 10.0**exponent
    decimals = max(0, -floor(log10(step) + 1e-9))
    first = ceil(low / step)
    return [round(index * step, 9) for index in range(first, floor(high / step) + 1)], decimals


def _round_below(value: float) -> float:
    exponent = floor(log10(value))
    return float(max(step for step in (1, 2, 5) if step * 10.0**exponent <= value) * 10.0**exponent)


def _degrees(value: float, decimals: int, positive: str, negative: str) -> str:
    return f"{abs(value):.{decimals}f}° {positive if value >= 0 else negative}"
