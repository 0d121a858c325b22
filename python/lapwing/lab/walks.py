"""How devices move: they stay, walk or drive, along the streets, and turn back at the edge of the city."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lapwing.lab.city import RADIUS_M, edge_m

STAY, WALK, DRIVE = 0, 1, 2
_MEAN_SPEED_MS = np.array([0.0, 1.35, 9.5])
_SPEED_DEVIATION_MS = np.array([0.0, 0.25, 3.5])
_MEAN_SPELL_S = np.array([900.0, 600.0, 480.0])
_NEXT = np.array([[0.0, 0.45, 0.55], [0.6, 0.0, 0.4], [0.55, 0.45, 0.0]]).cumsum(axis=1)
"""What follows a spell, per present mode: a row's cumulated chances of staying, walking, driving."""

_SHARES = np.array([0.3, 0.3, 0.4]).cumsum()
_TURN_METRES = 350.0
"""Mean distance between two turns."""

_STREETS_RAD = 0.3
"""The streets run at this angle to the east, and across it."""

_DISTRICTS = 6


class Walks:
    """Positions and speeds of ``count`` devices, advanced step by step.

    Attributes:
        x_m, y_m: Metres east and north of the centre.
        speed_ms: Metres per second in the last step.
    """

    def __init__(self, count: int, random: np.random.Generator) -> None:
        self._random = random
        centres = random.normal(0, RADIUS_M / 2.6, (_DISTRICTS, 2))
        homes = centres[random.integers(_DISTRICTS, size=count)]
        homes += random.normal(0, RADIUS_M / 3.2, (count, 2))
        distance = np.hypot(homes[:, 0], homes[:, 1])
        edge = edge_m(np.arctan2(homes[:, 1], homes[:, 0]))
        homes *= np.minimum(1.0, edge * np.sqrt(random.random(count)) / distance)[:, None]
        self.x_m, self.y_m = homes[:, 0].copy(), homes[:, 1].copy()
        self._mode = np.searchsorted(_SHARES, random.random(count)).clip(max=DRIVE)
        self._heading = random.integers(4, size=count)
        self.speed_ms = np.zeros(count)
        self._pace(np.ones(count, dtype=np.bool_))

    def step(self, seconds: float) -> None:
        """Advances every device by ``seconds`` of the city's time."""
        count = len(self.x_m)
        ends = self._random.random(count) < -np.expm1(-seconds / _MEAN_SPELL_S[self._mode])
        chance = self._random.random((count, 1))
        follower = (chance >= _NEXT[self._mode]).sum(axis=1).clip(max=DRIVE)
        self._mode = np.where(ends, follower, self._mode)
        self._pace(ends)
        self._turn(seconds)
        angle = _STREETS_RAD + self._heading * (np.pi / 2)
        self.x_m += self.speed_ms * seconds * np.cos(angle)
        self.y_m += self.speed_ms * seconds * np.sin(angle)
        self._keep_inside()

    def _pace(self, changed: NDArray[np.bool_]) -> None:
        drawn = self._random.normal(_MEAN_SPEED_MS[self._mode], _SPEED_DEVIATION_MS[self._mode])
        floor = np.where(self._mode == STAY, 0.0, 0.4)
        self.speed_ms = np.where(changed, np.maximum(drawn, floor), self.speed_ms)

    def _turn(self, seconds: float) -> None:
        count = len(self.x_m)
        turns = self._random.random(count) < -np.expm1(-self.speed_ms * seconds / _TURN_METRES)
        side = self._random.choice(np.array([-1, 1]), count)
        self._heading = np.where(turns, (self._heading + side) % 4, self._heading)

    def _keep_inside(self) -> None:
        distance = np.hypot(self.x_m, self.y_m)
        edge = edge_m(np.arctan2(self.y_m, self.x_m))
        outside = distance > edge
        pull = np.where(outside, edge / np.maximum(distance, 1.0), 1.0)
        self.x_m *= pull
        self.y_m *= pull
        inward = np.arctan2(-self.y_m, -self.x_m) - _STREETS_RAD
        self._heading = np.where(outside, np.round(inward / (np.pi / 2)).astype(np.int64) % 4, self._heading)
