"""Ten thousand idle connections: what each costs in memory, and how many are opened in a second; Mosquitto beside it.

Each connection has a session and one subscription of its own, and says nothing after that. The opening client is one
process that keeps a few hundred connections under way; it shares both cores with the broker.
"""

from __future__ import annotations

import resource
import select
import socket
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from urllib.parse import urlsplit

from benches.brokers import RunningBroker, lapwing, mosquitto
from benches.raw_mqtt import connect, subscribe
from benches.resident import resident_bytes
from benches.table import print_table, verdict

BOTH = {0, 1}
IDLE = 10_000
UNDER_WAY = 200
BYTES_MAX = 4096
RATE_MIN = 1000
SUBACK = 0x90
"""Its first byte; a CONNACK before it has none like it."""


class Opener:
    """Opens connections, some under way at a time, and holds them."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.address = (parts.hostname or "", parts.port or 0)
        self.poll = select.epoll()
        self.under_way: dict[int, socket.socket] = {}
        self.open: list[socket.socket] = []
        self.begun = 0

    def begin(self) -> None:
        """One more connection, its CONNECT and SUBSCRIBE sent as soon as it stands."""
        connection = socket.create_connection(self.address)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        name = f"idle-{self.begun:06}"
        connection.sendall(connect(name) + subscribe(f"spectrum/{name}/commands"))
        self.begun += 1
        self.poll.register(connection, select.EPOLLIN)
        self.under_way[connection.fileno()] = connection

    def settle(self) -> None:
        """Takes the answers that have come: the SUBACK is the last."""
        for number, _ in self.poll.poll(1):
            connection = self.under_way[number]
            answers = connection.recv(4096)
            if not answers:
                raise RuntimeError(f"the broker closed connection {len(self.open)}")
            if SUBACK in answers:
                self.poll.unregister(number)
                self.open.append(self.under_way.pop(number))

    def fill(self, count: int) -> float:
        """Opens `count` connections; the seconds that it took."""
        begun = time.monotonic()
        wanted = self.begun + count
        while self.begun < wanted or self.under_way:
            while self.begun < wanted and len(self.under_way) < UNDER_WAY:
                self.begin()
            self.settle()
        return time.monotonic() - begun

    def close(self) -> None:
        """Closes them all."""
        for connection in [*self.open, *self.under_way.values()]:
            connection.close()
        self.poll.close()


def _measure(start: Callable[[], AbstractContextManager[RunningBroker]], count: int) -> tuple[float, float]:
    """Bytes per idle connection, and connections opened per second."""
    with start() as broker:
        opener = Opener(broker.url)
        try:
            # What the first ones bring (tables, allocator) is not theirs.
            opener.fill(count // 10)
            before = resident_bytes(broker.pid)
            seconds = opener.fill(count)
            return (resident_bytes(broker.pid) - before) / count, count / seconds
        finally:
            opener.close()


def run(*, quick: bool) -> None:
    """Prints the table and whether both targets are reached."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    count = min(1_000 if quick else IDLE, (hard - 500) * 10 // 11)
    subjects: dict[str, Callable[[], AbstractContextManager[RunningBroker]]] = {
        "lapwing, 2 shards": lambda: lapwing(BOTH, shards=2),
        "mosquitto": lambda: mosquitto(BOTH),
    }
    figures = {name: _measure(start, count) for name, start in subjects.items()}
    theirs = figures["mosquitto"]
    print_table(
        f"{count:,} idle connections over TCP, each with a session and one subscription",
        ("broker", "bytes each", "ratio to mosquitto", "opened/s", "ratio to mosquitto"),
        [(name, own[0], own[0] / theirs[0], own[1], own[1] / theirs[1]) for name, own in figures.items()],
    )
    ours = figures["lapwing, 2 shards"]
    verdict("bytes per idle connection", ours[0], BYTES_MAX, at_most=True)
    verdict("connections opened per second", ours[1], RATE_MIN)
