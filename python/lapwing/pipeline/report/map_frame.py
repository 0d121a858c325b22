"""Which part of the world a map shows, and how coarse its tiles are: decided from where the samples lie."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log2

import numpy as np
from numpy.typing import NDArray

TABLE_ZOOM = 17
"""Zoom of the tiles in the table."""

SPAN_TILES_MIN = 14
"""Fewer tiles are shown with land around them, not blown up."""

CELLS_ACROSS_MAX = 180
"""More tiles across than this are too small to see; they are merged, four into one, until they fit."""

STRAY_SHARE = 0.005
"""So much at each end may be left out, if the rest then fills the map better (a phone in another town)."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A piece of the tile plane at ``zoom``; bounds in tiles, ``right`` and ``bottom`` exclusive (rows grow
    southwards).
    """

    zoom: int
    left: float
    top: float
    right: float
    bottom: float

    @property
    def merged(self) -> int:
        """How many tiles of the table make one side of a tile of the map."""
        return int(2 ** (TABLE_ZOOM - self.zoom))

    def holds(self, x: NDArray[np.int64], y: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether tiles of the map lie in it."""
        return (x >= self.left) & (x < self.right) & (y >= self.top) & (y < self.bottom)


def frame(x: NDArray[np.int64], y: NDArray[np.int64], samples: NDArray[np.int64], aspect: float) -> Frame:
    """The frame for tiles of the table.

    Args:
        x, y: Columns and rows of tiles, at least one.
        samples: Their weights.
        aspect: Width of the map over its height.
    """
    left, right = _bounds(x, samples)
    top, bottom = _bounds(y, samples)
    width, height = _shape((right - left) * 1.08, (bottom - top) * 1.08, aspect)
    merges = max(0, ceil(log2(max(width / aspect**0.5, height * aspect**0.5) / CELLS_ACROSS_MAX)))
    scale = 2**merges
    middle_x, middle_y = (left + right) / 2 / scale, (top + bottom) / 2 / scale
    width, height = width / scale, height / scale
    return Frame(
        TABLE_ZOOM - merges,
        middle_x - width / 2,
        middle_y - height / 2,
        middle_x + width / 2,
        middle_y + height / 2,
    )


def _shape(width: float, height: float, aspect: float) -> tuple[float, float]:
    height = max(height, width / aspect, SPAN_TILES_MIN)
    return height * aspect, height


def _bounds(position: NDArray[np.int64], samples: NDArray[np.int64]) -> tuple[float, float]:
    whole = float(position.min()), float(position.max() + 1)
    order = np.argsort(position, kind="stable")
    reached = samples[order].cumsum() / samples.sum()
    low = position[order][np.searchsorted(reached, STRAY_SHARE)]
    high = position[order][min(int(np.searchsorted(reached, 1 - STRAY_SHARE)), len(order) - 1)]
    core = floor(low), ceil(high + 1)
    # Strays are worth their room unless they make the map more than twice as wide.
    margin = 0.1 * (core[1] - core[0])
    return whole if whole[1] - whole[0] <= 2 * (core[1] - core[0]) + 8 else (core[0] - margin, core[1] + margin)
