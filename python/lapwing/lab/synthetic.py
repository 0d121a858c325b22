"""A city that never was: ``Synthetic`` walks its devices through it and lets each say what it hears.

City time may run faster than the clock (``speed``): a demo of twenty seconds then shows twenty minutes of a
city, and its map has tiles in it. ``measured_at`` is city time and never later than the start of the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from lapwing.errors import LapwingError
from lapwing.lab.churn import Churn
from lapwing.lab.listening import Listening, Place
from lapwing.lab.payload import encode_columns, rfc3339_column, string_column
from lapwing.lab.source import BATCH_READINGS_MAX, Batch, Moves
from lapwing.lab.walks import Walks

_CITY_SECONDS_MAX = 1e9
"""Thirty years, which end as the run begins."""
_BLOCK_READINGS_MIN = 1024
"""Steps are gathered until a block has so many readings: numpy's cost per call is then spread over many."""


@dataclass(frozen=True, slots=True)
class _Step:
    """The devices that measure in one period: who, when, which reading, where."""

    device: NDArray[np.int64]
    due_us: NDArray[np.int64]
    boot: NDArray[np.int64]
    serial: NDArray[np.int64]
    place: Place
    moved: NDArray[np.int64]
    moved_at_us: NDArray[np.int64]
    away: NDArray[np.bool_]


class Synthetic:
    """A ``Source`` of made-up readings.

    Args:
        devices: How many devices.
        seconds: Length of the run by the clock.
        rate: Readings per device and second.
        seed: The same seed makes the same city and the same walks.
        speed: Seconds of the city per second of the run.
    Raises:
        LapwingError: an argument is not above 0, or the city's time begins too long ago.
    """

    def __init__(self, devices: int, seconds: float, rate: float, seed: int, speed: float = 60.0) -> None:
        for name, value in (("devices", devices), ("seconds", seconds), ("rate", rate), ("speed", speed)):
            if not value > 0:
                raise LapwingError(f"{value} is not above 0", where=f"--{name}", remedy="give a positive number")
        if seconds * speed > _CITY_SECONDS_MAX:
            raise LapwingError(
                f"{seconds:g} s at {speed:g} times the speed are more than {_CITY_SECONDS_MAX:g} s of the city",
                where="--speed",
                remedy="give a smaller number: its readings would be of before 1970",
            )
        self.devices = [f"phone-{index:0{len(str(devices - 1))}d}" for index in range(devices)]
        self.seconds = float(seconds)
        self._rate = rate
        self._seed = seed
        self._speed = speed
        self._steps = max(1, ceil(seconds * rate - 1e-9))
        # The landscape takes a moment to make (Fourier transforms): not when the schedule runs already.
        self._listening = Listening(devices, self._random(0))

    @property
    def readings_expected(self) -> int:
        """What would come if no device ever fell silent."""
        return len(self.devices) * self._steps

    def batches(self, started_at_us: int) -> Iterator[Batch]:
        """The whole run; each call starts the city anew."""
        walks = Walks(len(self.devices), self._random(1))
        churn = Churn(len(self.devices), self._random(2))
        fading = self._random(3)
        city_started_at_us = started_at_us - round(self.seconds * self._speed * 1e6)
        for block in self._blocks(walks, churn):
            columns = self._listening.columns(block.device, block.place, fading)
            columns["device"] = string_column(self.devices, block.device)
            columns["boot"] = list(map(str, block.boot.tolist()))
            columns["serial"] = list(map(str, block.serial.tolist()))
            columns["sent_at"] = rfc3339_column(started_at_us + block.due_us)
            columns["measured_at"] = rfc3339_column(city_started_at_us + _microseconds(block.place.city_s))
            yield from _batches(block, encode_columns(columns))

    def _random(self, purpose: int) -> np.random.Generator:
        """A stream of randomness of its own for each purpose, so that one does not shift another."""
        return np.random.default_rng([self._seed, purpose])

    def _blocks(self, walks: Walks, churn: Churn) -> Iterator[_Step]:
        gathered: list[_Step] = []
        moved = np.empty(0, dtype=np.int64)
        for number in range(self._steps):
            if number:
                city_s = self._speed / self._rate
                walks.step(city_s)
                moved = churn.step(city_s)
            gathered.append(self._step(number, walks, churn, moved))
            if sum(len(step.device) for step in gathered) >= _BLOCK_READINGS_MIN:
                yield _joined(gathered)
                gathered = []
        if any(len(step.device) for step in gathered):
            yield _joined(gathered)

    def _step(self, number: int, walks: Walks, churn: Churn, moved: NDArray[np.int64]) -> _Step:
        present = np.flatnonzero(~churn.away)
        due_s = self._due_s(number, present)
        return _Step(
            device=present,
            due_us=_microseconds(due_s),
            moved=moved,
            moved_at_us=_microseconds(self._due_s(number, moved)),
            away=churn.away[moved],
            boot=churn.boot[present],
            serial=churn.take_serials(present),
            place=Place(walks.x_m[present], walks.y_m[present], walks.speed_ms[present], due_s * self._speed),
        )

    def _due_s(self, number: int, devices: NDArray[np.int64]) -> NDArray[np.float64]:
        # Devices do not tick in step: each has its own moment within the period.
        moment = number + devices / len(self.devices)
        return np.minimum(moment / self._rate, self.seconds)


def _microseconds(seconds: NDArray[np.float64]) -> NDArray[np.int64]:
    return np.round(seconds * 1e6).astype(np.int64)


def _joined(steps: list[_Step]) -> _Step:
    def column(name: str) -> NDArray[np.int64]:
        return np.concatenate([getattr(step, name) for step in steps])

    return _Step(
        column("device"),
        column("due_us"),
        column("boot"),
        column("serial"),
        Place.joined([step.place for step in steps]),
        column("moved"),
        column("moved_at_us"),
        np.concatenate([step.away for step in steps]),
    )


def _moves(block: _Step) -> Moves | None:
    if not len(block.moved):
        return None
    kinds = ["leave" if away else "join" for away in block.away.tolist()]
    return Moves(block.moved.astype(np.int32), block.moved_at_us, kinds)


def _batches(block: _Step, payloads: list[bytes]) -> Iterator[Batch]:
    for low in range(0, len(payloads), BATCH_READINGS_MAX):
        part = slice(low, low + BATCH_READINGS_MAX)
        moves = None if low else _moves(block)
        yield Batch(block.device[part].astype(np.int32), block.due_us[part], payloads[part], moves)
