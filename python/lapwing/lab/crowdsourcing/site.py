"""Where one point of the experiment happens: its folder, its ports, and what its parts have to know of each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from lapwing.lab.ports import free_ports

if TYPE_CHECKING:
    from lapwing.lab.kafka import LocalKafka

HOST = "127.0.0.1"
FILTER = "spectrum/+/readings"
"""Where phones publish."""

TOPIC, DEAD_LETTERS = "readings", "lapwing-dead-letters"
"""Of Kafka."""

GROUP = "bridge"
"""The bridge members' share name."""


@dataclass
class Site:
    """One point.

    Attributes:
        folder: Its own.
        qos: Of the phones, and of a plain subscriber.
        shards: Data threads of a broker.
        bridges: Members of the bridge.
        partitions: Of the topic of Kafka.
        envelope: A plain subscriber asks the broker when it took each message in.
    """

    folder: Path
    qos: int
    shards: int = 2
    bridges: int = 1
    partitions: int = 2
    envelope: bool = True
    _ports: dict[str, int] = field(default_factory=dict)

    def port(self, name: str) -> int:
        """The port of that name; a free one is taken when it is first asked for."""
        if name not in self._ports:
            taken = set(self._ports.values())
            self._ports[name] = next(port for port in free_ports(len(taken) + 1) if port not in taken)
        return self._ports[name]

    @property
    def url(self) -> str:
        """Where phones connect."""
        return f"tcp://{HOST}:{self.port('mqtt')}"

    @property
    def http(self) -> str:
        """The broker's HTTP side."""
        return f"http://{HOST}:{self.port('http')}"

    @property
    def logs(self) -> Path:
        """Logs of every part: kept."""
        return self.folder / "logs"

    @property
    def scratch(self) -> Path:
        """What parts keep on disk while the point lasts: removed after it."""
        return self.folder / "scratch"

    @property
    def answer(self) -> Path:
        """What the controller writes."""
        return self.folder / "controller"

    @cached_property
    def kafka(self) -> LocalKafka:
        """The Kafka server; made, not started.

        Raises:
            ConfigError: there is no Java, or there are no jars.
        """
        from lapwing.lab.kafka import LocalKafka

        return LocalKafka(self.scratch / "kafka")
