"""Web Mercator tiles: columns and rows to degrees and back, and the size of things on the ground."""

from __future__ import annotations

from math import asinh, atan, cos, degrees, pi, radians, sinh, tan

EARTH_CIRCUMFERENCE_KM = 40_075.016686
"""At the equator, as the projection has it."""


def lon_of(x: float, zoom: int) -> float:
    """Longitude in degrees of the western edge of column ``x``; fractions are places within a tile."""
    return x / _side(zoom) * 360 - 180


def lat_of(y: float, zoom: int) -> float:
    """Latitude in degrees of the northern edge of row ``y``."""
    return degrees(atan(sinh(pi * (1 - 2 * y / _side(zoom)))))


def x_of(lon: float, zoom: int) -> float:
    """Column of a longitude, with its fraction."""
    return (lon + 180) / 360 * _side(zoom)


def y_of(lat: float, zoom: int) -> float:
    """Row of a latitude, with its fraction."""
    return (1 - asinh(tan(radians(lat))) / pi) / 2 * _side(zoom)


def tile_km(y: float, zoom: int) -> float:
    """Side of a tile of row ``y`` on the ground, in km."""
    return EARTH_CIRCUMFERENCE_KM * cos(radians(lat_of(y, zoom))) / _side(zoom)


def _side(zoom: int) -> float:
    """Tiles along one side of the world."""
    return float(1 << zoom)
