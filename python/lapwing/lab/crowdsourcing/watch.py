"""Watches the parts of a point: who ends by itself, and what each uses."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lapwing.lab.crowdsourcing import usage
from lapwing.lab.crowdsourcing.balance import Losses
from lapwing.lab.crowdsourcing.part import Role, Standing, check_alive
from lapwing.lab.crowdsourcing.scrape import NOTHING, Metrics, fetch

SAMPLE_S = 0.5
"""Between two looks at ``/proc`` and the metrics."""

QUEUE_GAUGES = {
    "broker": ("lapwing_messages_kept", "lapwing_group_waiting_messages"),
    "bridge": ("lapwing_bridge_in_flight", "lapwing_bridge_queued"),
}
"""What waits in a part of that role: the gauges whose larger sum is its queue."""


@dataclass
class Stress:
    """What one process met at one point.

    Attributes:
        cpu_idle: Cores that it was busy on while nobody published.
        cpu: The same while readings were published.
        rss_bytes: Most memory.
        queue: Most messages that waited in it, where it says so.
        dropped: Messages that it says it has dropped, by reason; None: it counts no such thing (see `drops`).
    """

    name: str
    role: Role
    cpu_idle: float = 0.0
    cpu: float = 0.0
    rss_bytes: int = 0
    queue: int = 0
    dropped: Losses | None = None

    def to_json(self) -> dict[str, Any]:
        """As a row has it."""
        return {
            "name": self.name,
            "role": self.role,
            "cpu_idle_cores": round(self.cpu_idle, 4),
            "cpu_cores": round(self.cpu, 4),
            "rss_mib": round(self.rss_bytes / 2**20, 1),
            "queue_messages": self.queue,
            "dropped": None if self.dropped is None else dict(self.dropped),
        }


class Watch:
    """Looks at parts whenever it is told to; samples at most every ``SAMPLE_S``.

    Args:
        parts: Those that run; more may come.
    """

    def __init__(self, parts: Sequence[Standing] = ()) -> None:
        self._parts: list[Standing] = []
        self.stress: dict[str, Stress] = {}
        self.metrics: dict[str, Metrics] = {}
        self._begun: dict[str, float] = {}
        self._begun_s = 0.0
        self._sampled_s = 0.0
        for part in parts:
            self.add(part)

    def add(self, part: Standing) -> None:
        """Watches one more."""
        self._parts.append(part)
        self.stress[part.name] = Stress(part.name, part.role)

    def remove(self, part: Standing) -> None:
        """It may end from now on; what was seen of it stays."""
        self._parts.remove(part)

    def look(self) -> None:
        """Raises `PartEndedError` for one that has ended by itself; samples when it is time."""
        for part in self._parts:
            check_alive(part)
        if time.monotonic() - self._sampled_s >= SAMPLE_S:
            self.sample()

    def sample(self) -> None:
        """Samples memory and queues now."""
        used = self._used()
        for part in self._parts:
            stress = self.stress[part.name]
            stress.rss_bytes = max(stress.rss_bytes, used[part.pid].rss_bytes)
            if part.metrics:
                self._scrape(part, stress)
        self._sampled_s = time.monotonic()

    def begin(self) -> None:
        """Processor time counts from now."""
        used = self._used()
        self._begun = {part.name: used[part.pid].cpu_s for part in self._parts}
        self._begun_s = time.monotonic()

    def cores(self) -> dict[str, float]:
        """Cores that each was busy on since `begin`."""
        used = self._used()
        seconds = max(time.monotonic() - self._begun_s, 1e-9)
        return {part.name: max(0.0, used[part.pid].cpu_s - self._begun[part.name]) / seconds for part in self._parts}

    def _used(self) -> Any:
        return usage.by_root(usage.look(), [part.pid for part in self._parts])

    def _scrape(self, part: Standing, stress: Stress) -> None:
        try:
            metrics = fetch(part.metrics)
        except OSError:
            return  # too busy to answer: the one before stands, and the next look asks again
        self.metrics[part.name] = metrics
        waiting = max((metrics.total(name) for name in QUEUE_GAUGES.get(part.role, ())), default=0)
        stress.queue = max(stress.queue, round(waiting))

    def last(self, name: str) -> Metrics:
        """The last metrics of a part."""
        return self.metrics.get(name, NOTHING)
