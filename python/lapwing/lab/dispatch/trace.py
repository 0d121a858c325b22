"""A whole day of a group, made from a seed, kept in files.

A trace is a folder: ``trace.json`` (scenario, load, seed, each member's day) and ``messages.bin`` (one ``MESSAGE`` per
message, in order of time).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lapwing.lab.dispatch.day import Day, Steps
from lapwing.lab.dispatch.scenario import CRITICAL_SHARE, Scenario

Messages: TypeAlias = NDArray[Any]

MESSAGE = np.dtype([("at_ms", "<f8"), ("work", "<f8"), ("is_critical", "<u1")])
"""When it is published, its work in messages of average size, whether it is critical."""

_AFTER_MS = 400e3
"""So much longer do disturbances go on after the last message: members may still be at work."""
_BURST, _CALM = (2.5, 200.0), (0.625, 800.0)
"""Times the mean rate, and for how long on average."""


@dataclass(frozen=True)
class Trace:
    """One day.

    Attributes:
        load: Offered work, as a share of what all members finish together.
        days: One per member.
        messages: ``MESSAGE`` records, ascending in time.
    """

    scenario: Scenario
    load: float
    seed: int
    seconds: float
    days: tuple[Day, ...]
    messages: Messages

    @property
    def name(self) -> str:
        """Tells it from other traces: the name of its folder."""
        return f"{self.scenario.name}-{self.load:g}-{self.seconds:g}s-{self.seed}"

    @property
    def rate_per_s(self) -> float:
        """Messages a second."""
        return len(self.messages) / self.seconds

    def write(self, parent: Path) -> Path:
        """Writes its folder into ``parent``; gives the folder."""
        folder = parent / self.name
        folder.mkdir(parents=True, exist_ok=True)
        self.messages.tofile(folder / "messages.bin")
        document = {
            "scenario": asdict(self.scenario),
            "load": self.load,
            "seed": self.seed,
            "seconds": self.seconds,
            "members": [day.to_json() for day in self.days],
        }
        (folder / "trace.json").write_text(json.dumps(document) + "\n")
        return folder

    @classmethod
    def read(cls, folder: Path) -> Trace:
        """What ``write`` wrote."""
        document = json.loads((folder / "trace.json").read_text())
        return cls(
            _scenario(document["scenario"]),
            document["load"],
            document["seed"],
            document["seconds"],
            tuple(map(Day.from_json, document["members"])),
            np.fromfile(folder / "messages.bin", MESSAGE),
        )


def _scenario(document: dict[str, Any]) -> Scenario:
    """What ``asdict`` made of a scenario; JSON knows no tuples."""
    fields: Any = {name: tuple(value) if isinstance(value, list) else value for name, value in document.items()}
    return Scenario(**fields)


def make_trace(scenario: Scenario, load: float, seed: int, seconds: float) -> Trace:
    """The day of ``seed``: the same arguments give the same bytes.

    Args:
        load: Share of the members' capacity, slowdowns and pauses counted, that arrives as work; above 0.
        seconds: How long messages come.
    """
    chance = np.random.default_rng((seed, 1883))
    share = (np.arange(scenario.members) + 0.5) / scenario.members
    # Stratified: every seed has the same spread of speeds and distances, and only who has which differs.
    speeds = _between(scenario.speeds, share) / 1e3
    trips = _between(scenario.round_trips, chance.permutation(share))
    days = tuple(
        _day(scenario, float(speed), float(trip), seconds * 1e3, chance)
        for speed, trip in zip(speeds, trips, strict=True)
    )
    capacity = sum(day.speed.mean(seconds * 1e3) for day in days)
    return Trace(scenario, load, seed, seconds, days, _messages(scenario, load * capacity, seconds * 1e3, chance))


def _between(ends: tuple[float, float], share: Any) -> Any:
    """Log-uniform: the value at ``share`` of the way."""
    low, high = ends
    return low * (high / low) ** share


def _day(scenario: Scenario, speed: float, trip_ms: float, until_ms: float, chance: np.random.Generator) -> Day:
    end_ms = until_ms + _AFTER_MS
    spans = [
        *_spans(scenario.slow_every, lambda: chance.exponential(5e3), 0.1, end_ms, chance),
        *_spans(scenario.pause_every, lambda: chance.uniform(50.0, 500.0), 0.0, end_ms, chance),
        *_spans(scenario.stall_every, lambda: 30e3, 0.0, end_ms, chance),
    ]
    at_ms, trips = [0.0], [trip_ms]
    while scenario.move_every and at_ms[-1] < end_ms:
        at_ms.append(at_ms[-1] + float(chance.exponential(scenario.move_every)))
        trips.append(float(_between(scenario.round_trips, chance.random())))
    return Day(_speeds(speed, spans), Steps(at_ms, trips))


def _spans(
    every_ms: float, length: Callable[[], float], factor: float, end_ms: float, chance: np.random.Generator
) -> list[tuple[float, float, float]]:
    """Disturbances as (from, until, factor), with an exponential time between two."""
    spans: list[tuple[float, float, float]] = []
    at_ms = float(chance.exponential(every_ms)) if every_ms else end_ms
    while at_ms < end_ms:
        until_ms = at_ms + float(length())
        spans.append((at_ms, until_ms, factor))
        at_ms = until_ms + float(chance.exponential(every_ms))
    return spans


def _speeds(speed: float, spans: list[tuple[float, float, float]]) -> Steps:
    """The steps of a speed under disturbances; where several overlap, the strongest counts."""
    edges = sorted({0.0, *(edge for begin, end, _ in spans for edge in (begin, end))})

    def factor(at_ms: float) -> float:
        return min((weight for begin, end, weight in spans if begin <= at_ms < end), default=1.0)

    return Steps(edges, [speed * factor(at_ms) for at_ms in edges])


def _messages(scenario: Scenario, per_ms: float, until_ms: float, chance: np.random.Generator) -> Messages:
    at_ms = _bursts(per_ms, until_ms, chance) if scenario.has_bursts else _poisson(per_ms, until_ms, chance)
    messages = np.empty(len(at_ms), MESSAGE)
    messages["at_ms"] = at_ms
    spread = math.sqrt(math.log(2.0))  # log-normal with mean 1 and a standard deviation of 1
    messages["work"] = chance.lognormal(-(spread**2) / 2, spread, len(at_ms))
    messages["is_critical"] = chance.random(len(at_ms)) < CRITICAL_SHARE
    return messages


def _poisson(per_ms: float, until_ms: float, chance: np.random.Generator) -> NDArray[np.float64]:
    count = int(chance.poisson(per_ms * until_ms))
    return np.sort(chance.uniform(0.0, until_ms, count))


def _bursts(per_ms: float, until_ms: float, chance: np.random.Generator) -> NDArray[np.float64]:
    pieces, begin_ms, is_burst = [np.empty(0)], 0.0, False
    while begin_ms < until_ms:
        times, mean_ms = _BURST if is_burst else _CALM
        end_ms = begin_ms + float(chance.exponential(mean_ms))
        count = int(chance.poisson(per_ms * times * (end_ms - begin_ms)))
        pieces.append(np.sort(chance.uniform(begin_ms, end_ms, count)))
        begin_ms, is_burst = end_ms, not is_burst
    at_ms = np.concatenate(pieces)
    return at_ms[at_ms < until_ms]
