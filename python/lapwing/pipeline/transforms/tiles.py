"""Web Mercator tiles, as maps on the web number them: ``z/x/y``, x from west to east, y from north to south."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

ZOOM = 17
LAT_MAX = 85.0511287798066
"""The projection is square up to this latitude; what lies beyond belongs to the outermost row."""

Floats = npt.NDArray[np.float64]


def tile_xy(lat: Floats, lon: Floats, zoom: int = ZOOM) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Columns and rows of the tiles that hold positions in degrees."""
    side = 2**zoom
    radians = np.radians(np.clip(lat, -LAT_MAX, LAT_MAX))
    x = (lon + 180) / 360 * side
    y = (1 - np.log(np.tan(radians) + 1 / np.cos(radians)) / math.pi) / 2 * side
    return _within(x, side), _within(y, side)


def _within(exact: Floats, side: int) -> npt.NDArray[np.int64]:
    return np.clip(np.floor(exact), 0, side - 1).astype(np.int64)


def tile_bounds(x: int, y: int, zoom: int = ZOOM) -> tuple[float, float, float, float]:
    """West, south, east, north of a tile, in degrees."""
    side = 2**zoom

    def north_of(row: int) -> float:
        return math.degrees(math.atan(math.sinh(math.pi * (1 - 2 * row / side))))

    return x / side * 360 - 180, north_of(y + 1), (x + 1) / side * 360 - 180, north_of(y)


def tile_names(x: npt.NDArray[Any], y: npt.NDArray[Any], zoom: int = ZOOM) -> list[str]:
    """``z/x/y`` of each."""
    return [f"{zoom}/{column}/{row}" for column, row in zip(x.tolist(), y.tolist(), strict=True)]
