"""Devices that fall silent for a while, and some that come back rebooted.

A device that is away measures nothing, so its serials have no gap when it returns; after a reboot its
``boot`` is one higher and its serials start at 0 again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

MEAN_PRESENT_S = 3600.0
MEAN_AWAY_S = 240.0
REBOOT_SHARE = 0.5
_BOOTS_BEFORE_MAX = 40


class Churn:
    """Who is there, and each device's counters.

    Attributes:
        boot: How often each device has started.
        away: Who is silent.
    """

    def __init__(self, count: int, random: np.random.Generator) -> None:
        self._random = random
        self.boot = random.integers(_BOOTS_BEFORE_MAX, size=count)
        self.away = np.zeros(count, dtype=np.bool_)
        self._next_serial = np.zeros(count, dtype=np.int64)

    def step(self, seconds: float) -> NDArray[np.int64]:
        """Lets ``seconds`` of the city's time pass; gives the devices that went or came back."""
        mean_s = np.where(self.away, MEAN_AWAY_S, MEAN_PRESENT_S)
        changes = self._random.random(len(self.away)) < -np.expm1(-seconds / mean_s)
        reboots = changes & self.away & (self._random.random(len(self.away)) < REBOOT_SHARE)
        self.boot = self.boot + reboots
        self._next_serial[reboots] = 0
        self.away = self.away ^ changes
        return np.flatnonzero(changes)

    def take_serials(self, devices: NDArray[np.int64]) -> NDArray[np.int64]:
        """The next serial of each of ``devices`` (no device twice)."""
        taken = self._next_serial[devices].copy()
        self._next_serial[devices] += 1
        return taken
