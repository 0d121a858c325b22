"""The city: where it lies, its networks, and the masts that serve it.

Masts stand on a shaken hexagonal lattice, as real networks do nearly. Signal strength follows log-distance
path loss,

    RSRP = eirp - (free space loss of the first metre + 10 n log10(d / 1 m)) + shadowing,

with the exponent n between free space (2) and dense streets (4), and shadowing of a few dB that is alike for
neighbouring points (``field``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lapwing.lab.field import Field

CENTRE_LAT = 51.8985
CENTRE_LON = -8.4756
RADIUS_M = 3600.0
"""Mean distance of the city's edge from its centre; about 1,100 map tiles at zoom 17 lie within."""

SHADOWING_REACH_M = 90.0
MAST_HEIGHT_M = 25.0
_EARTH_RADIUS_M = 6_371_008.8


@dataclass(frozen=True, slots=True)
class Network:
    """A radio access technology of one operator.

    Attributes:
        name: As readings name it.
        channels: Channel numbers (EARFCN, NR-ARFCN, UARFCN) that its devices may be on.
        mhz: Carrier frequency, for the loss of the first metre.
        eirp_dbm: Radiated power per reference signal, antenna gain included.
        exponent: Path loss exponent.
        shadowing_db: Deviation of the shadowing.
        spacing_m: Distance between neighbouring masts.
        reach_m: Masts stand this far from the centre at most.
        bandwidth_mhz: Of one channel.
    """

    name: str
    operator: str
    channels: tuple[int, ...]
    mhz: float
    eirp_dbm: float
    exponent: float
    shadowing_db: float
    spacing_m: float
    reach_m: float
    bandwidth_mhz: float


NETWORKS = (
    Network("5G", "Vanellus", (636666, 643296), 3550, 44.0, 3.5, 7.0, 1150, 2600, 40),
    Network("LTE", "Vanellus", (1650, 3050, 6300), 1800, 36.0, 3.6, 7.5, 1500, 4200, 20),
    Network("UMTS", "Charadrius", (2988,), 942, 34.0, 3.5, 6.5, 2300, 5000, 5),
)


@dataclass(frozen=True, slots=True)
class Signal:
    """What phones receive from their strongest mast; one entry per point."""

    mast: NDArray[np.int64]
    rsrp_dbm: NDArray[np.float64]
    others_dbm: NDArray[np.float64]
    """Power of all other masts of the network together: the interference."""


class Coverage:
    """One network's masts over the city."""

    def __init__(self, network: Network, random: np.random.Generator) -> None:
        self.network = network
        self._x_m, self._y_m = _lattice(network, random)
        self._shadowing = Field(len(self._x_m), SHADOWING_REACH_M, random)
        cell_base = int(random.integers(1000, 90_000))
        self.cells = [str(256 * (cell_base + index) + 1) for index in range(len(self._x_m))]
        """Names of the cells, one per mast."""

    def at(self, x_m: NDArray[np.float64], y_m: NDArray[np.float64]) -> Signal:
        """Signals at points given in metres east and north of the centre."""
        horizontal = np.hypot(x_m[:, None] - self._x_m, y_m[:, None] - self._y_m)
        distance_m = np.hypot(horizontal, MAST_HEIGHT_M)
        shadow_db = self._shadowing.at(np.arange(len(self._x_m))[None, :], x_m[:, None], y_m[:, None])
        power_dbm = (
            self.network.eirp_dbm
            - self._first_metre_db
            - 10 * self.network.exponent * np.log10(distance_m)
            + self.network.shadowing_db * shadow_db
        )
        mast = power_dbm.argmax(axis=1)
        best = power_dbm[np.arange(len(mast)), mast]
        total_mw = (10 ** (power_dbm / 10)).sum(axis=1)
        others_mw = np.maximum(total_mw - 10 ** (best / 10), 1e-16)
        return Signal(mast, best, 10 * np.log10(others_mw))

    @cached_property
    def _first_metre_db(self) -> float:
        return float(20 * np.log10(self.network.mhz) - 27.55)


def edge_m(angle: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far the city reaches from its centre in a direction (radians, 0 is east): no city is a circle."""
    lobes = 0.16 * np.sin(2 * angle + 0.4) + 0.10 * np.sin(3 * angle + 2.1) + 0.05 * np.sin(7 * angle)
    edge: NDArray[np.float64] = RADIUS_M * (1 + lobes)
    return edge


class Geography:
    """Metres around the centre to degrees, WGS 84 (flat within a city: the error is below a metre)."""

    @staticmethod
    def lat(y_m: NDArray[np.float64]) -> NDArray[np.float64]:
        """Latitude of points ``y_m`` metres north of the centre."""
        lat: NDArray[np.float64] = CENTRE_LAT + np.degrees(y_m / _EARTH_RADIUS_M)
        return lat

    @staticmethod
    def lon(x_m: NDArray[np.float64]) -> NDArray[np.float64]:
        """Longitude of points ``x_m`` metres east of the centre."""
        parallel_m = _EARTH_RADIUS_M * np.cos(np.radians(CENTRE_LAT))
        lon: NDArray[np.float64] = CENTRE_LON + np.degrees(x_m / parallel_m)
        return lon


def _lattice(network: Network, random: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    count = int(network.reach_m // network.spacing_m) + 2
    row, column = np.mgrid[-count : count + 1, -count : count + 1]
    x_m = (column + (row % 2) / 2).ravel() * network.spacing_m
    y_m = row.ravel() * network.spacing_m * np.sqrt(3) / 2
    x_m = x_m + random.normal(0, network.spacing_m / 8, x_m.shape)
    y_m = y_m + random.normal(0, network.spacing_m / 8, y_m.shape)
    inside = np.hypot(x_m, y_m) <= network.reach_m
    return x_m[inside], y_m[inside]
