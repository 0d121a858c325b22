"""How busy each channel is, where and when: the share of the time in which it is occupied.

Each channel has a landscape of its own (busy quarters, quiet ones) and swells and ebbs over some minutes,
every quarter at its own phase.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lapwing.lab.field import Field

REACH_M = 450.0
PERIOD_S = 2400.0
_MEAN_LOGIT = -0.5


class Occupancy:
    """Occupied share of ``channels`` channels."""

    def __init__(self, channels: int, random: np.random.Generator) -> None:
        self._bias = random.normal(0, 0.7, channels)
        self._place = Field(channels, REACH_M, random)
        self._phase = Field(1, 2 * REACH_M, random)

    def at(
        self,
        channel: NDArray[np.int64],
        x_m: NDArray[np.float64],
        y_m: NDArray[np.float64],
        city_s: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Shares in 0..1 at points, at times of the city."""
        tide = np.sin(2 * np.pi * city_s / PERIOD_S + 3 * self._phase.at(np.zeros_like(channel), x_m, y_m))
        logit = _MEAN_LOGIT + self._bias[channel] + 1.3 * self._place.at(channel, x_m, y_m) + 0.7 * tide
        share: NDArray[np.float64] = 1 / (1 + np.exp(-logit))
        return share
