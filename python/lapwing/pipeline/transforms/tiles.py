"""Web Mercator tiles, as maps on the web number them: ``z/x/y``, x from west to east, y from north to south."""

from __future__ import annotations

import math

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

ZOOM = 17
LAT_MAX = 85.0511287798066
"""The projection is square up to this latitude; what lies beyond belongs to the outermost row."""


def tile_xy(lat: float, lon: float, zoom: int = ZOOM) -> tuple[int, int]:
    """Column and row of the tile that holds a position in degrees; for few positions, and to test the columns by."""
    side = 2**zoom
    radians = math.radians(max(-LAT_MAX, min(LAT_MAX, lat)))
    x = math.floor((lon + 180) / 360 * side)
    y = math.floor((1 - math.log(math.tan(radians) + 1 / math.cos(radians)) / math.pi) / 2 * side)
    return max(0, min(side - 1, x)), max(0, min(side - 1, y))


def tile_bounds(x: int, y: int, zoom: int = ZOOM) -> tuple[float, float, float, float]:
    """West, south, east, north of a tile, in degrees."""
    side = 2**zoom

    def north_of(row: int) -> float:
        return math.degrees(math.atan(math.sinh(math.pi * (1 - 2 * row / side))))

    return x / side * 360 - 180, north_of(y + 1), (x + 1) / side * 360 - 180, north_of(y)


def tile_x(lon: Column, zoom: int = ZOOM) -> Column:
    """`tile_xy` 's column for a column of longitudes in degrees; null where unknown."""
    side = 2**zoom
    return _within((lon + 180) / 360 * side, side)


def tile_y(lat: Column, zoom: int = ZOOM) -> Column:
    """`tile_xy` 's row for a column of latitudes in degrees; null where unknown."""
    side = 2**zoom
    radians = F.radians(F.when(lat > LAT_MAX, LAT_MAX).when(lat < -LAT_MAX, -LAT_MAX).otherwise(lat))
    return _within((1 - F.ln(F.tan(radians) + 1 / F.cos(radians)) / math.pi) / 2 * side, side)


def _within(exact: Column, side: int) -> Column:
    # `greatest` and `least` leave nulls out: the guard keeps an unknown position unknown.
    clamped = F.greatest(F.lit(0), F.least(F.lit(side - 1), F.floor(exact))).cast("int")
    return F.when(exact.isNotNull(), clamped)


def tile_name(x: Column, y: Column, zoom: int = ZOOM) -> Column:
    """``z/x/y``."""
    return F.concat(F.lit(f"{zoom}/"), x.cast("string"), F.lit("/"), y.cast("string"))
