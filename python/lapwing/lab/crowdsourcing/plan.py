"""What to measure: which architectures, with how many phones, how long, how often."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lapwing.errors import ConfigError
from lapwing.lab.crowdsourcing.architecture import Architecture

DEVICES = (500, 1000, 2000, 5000, 10_000, 15_000)
QUICK_DEVICES = (100, 200)
RATE_PER_S = 1.0
SECONDS, QUICK_SECONDS = 15.0, 4.0
IDLE_S, QUICK_IDLE_S = 3.0, 1.0
DRAIN_S = 60.0


@dataclass(frozen=True)
class Setting:
    """One point: an architecture with a fleet, once."""

    architecture: Architecture
    qos: int
    devices: int
    seed: int
    rate: float
    seconds: float
    idle_s: float
    drain_s: float
    shards: int
    bridges: int
    warm_share: float = 1.0

    @property
    def warm_s(self) -> float:
        """Readings of so many seconds come before those that are measured."""
        return self.architecture.warm_s * self.warm_share

    @property
    def label(self) -> str:
        """The line that it belongs to."""
        return self.architecture.label(self.qos)

    @property
    def slug(self) -> str:
        """A name for its folder."""
        return f"{self.architecture.name}-qos{self.qos}-{self.devices}-seed{self.seed}"


@dataclass(frozen=True)
class Plan:
    """Everything to measure.

    Args:
        architectures: At least one.
        devices: Numbers of phones, rising.
        qos: Those to measure with; None: those of each architecture.
        seeds: Every point is measured with seeds 1 to so many.
        rate: Readings of a phone in a second.
        seconds: That are measured, after the warm-up.
        idle_s: How long everything stands connected before the first reading.
        drain_s: How long, at most, for what is on its way after the last.
        shards: Data threads of a broker.
        bridges: Members of the bridge.
        warm_share: Of an architecture's warm-up.

    Raises:
        ConfigError: one of them cannot be.
    """

    architectures: tuple[Architecture, ...]
    devices: tuple[int, ...]
    qos: tuple[int, ...] | None
    seeds: int
    rate: float
    seconds: float
    idle_s: float
    drain_s: float
    shards: int
    bridges: int
    warm_share: float = 1.0

    def __post_init__(self) -> None:
        if not self.devices or min(self.devices) < 1 or list(self.devices) != sorted(set(self.devices)):
            given = ",".join(map(str, self.devices))
            raise ConfigError(f"{given!r} are no rising numbers", where="--devices", remedy="write 500,1000,2000")
        if len(set(self.architectures)) < len(self.architectures):
            raise ConfigError("an architecture is named twice", where="--architecture", remedy="name each once")
        if not any(True for _ in self.lines()):
            raise ConfigError("nothing is left to measure", where="--qos", remedy=_qos_remedy(self.architectures))

    def lines(self) -> Iterator[tuple[Architecture, int]]:
        """Each makes a line in the charts: an architecture and a QoS of its phones."""
        for architecture in self.architectures:
            for qos in architecture.qos:
                if self.qos is None or qos in self.qos:
                    yield architecture, qos

    def settings(self, architecture: Architecture, qos: int, devices: int) -> Iterator[Setting]:
        """A point with each seed."""
        for seed in range(1, self.seeds + 1):
            yield Setting(
                architecture,
                qos,
                devices,
                seed,
                self.rate,
                self.seconds,
                self.idle_s,
                self.drain_s,
                self.shards,
                self.bridges,
                self.warm_share,
            )

    @property
    def points_max(self) -> int:
        """As many as there are if nothing gives."""
        return len(list(self.lines())) * len(self.devices) * self.seeds

    def to_json(self) -> dict[str, Any]:
        """As a result has it."""
        names = ("seeds", "rate", "seconds", "idle_s", "drain_s", "shards", "bridges")
        return {
            "architectures": [each.name for each in self.architectures],
            "lines": [architecture.label(qos) for architecture, qos in self.lines()],
            "devices": list(self.devices),
            **{name: getattr(self, name) for name in names},
        }


def _qos_remedy(architectures: Sequence[Architecture]) -> str:
    return "; ".join(f"{each.name} is measured with {', '.join(map(str, each.qos))}" for each in architectures)
