"""The publisher of a trace, a process: sends each message when it is due, at QoS 1, with deadline and priority.

``python -m lapwing.lab.dispatch.publisher ORDER``; ORDER is JSON with the fields of ``Order``. Says "ready" on standard
output when connected, reads the trace's start in nanoseconds from standard input, and ends when every message is
acknowledged: one ``SENT`` record per message, and a line of JSON.

Open loop: a slow broker shows as latency. The broker's Receive Maximum holds for it too; what waits for that is sent
late, which its records show, and counts from the instant at which it was due.
"""

from __future__ import annotations

import json
import select
import socket
import struct
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from lapwing.errors import LapwingError
from lapwing.lab.dispatch.books import PAYLOAD, SENT
from lapwing.lab.dispatch.wire import DISCONNECT, PUBACK, Publishing, Wire, connect

_MESSAGE = struct.Struct("<ddB")
"""As ``trace.MESSAGE``, which needs numpy."""
_SILENCE_S = 10.0
"""A broker that acknowledges nothing for so long will not do it later."""
_NO_SUBSCRIBER, _REFUSED = 0x10, 0x80


@dataclass(frozen=True)
class Order:
    """What the publisher is told.

    Attributes:
        messages: File of the trace's messages.
        address: Host and port of the broker.
        critical: User properties of critical messages; bulk has none.
        records: File to write.
    """

    messages: str
    address: tuple[str, int]
    topic: str
    critical: dict[str, str]
    records: str


class Publisher:
    """Sends; ``run`` returns when all is answered, or nothing more is."""

    def __init__(self, order: Order) -> None:
        self._messages = list(_MESSAGE.iter_unpack(Path(order.messages).read_bytes()))
        self._packets = [Publishing(order.topic, properties, PAYLOAD.size) for properties in ({}, order.critical)]
        host, port = order.address
        stream = socket.create_connection((host, port), timeout=10)
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._wire = Wire(stream)
        self._window, _ = self._wire.open(connect("lab-publisher", {}))
        self._sent: list[tuple[int, int]] = []
        self._start_ns = 0
        self._answered_s = 0.0
        self.counts = {"acknowledged": 0, "refused": 0, "no_subscriber": 0}

    def run(self, start_ns: int) -> None:
        """Sends every message when it is due after ``start_ns``."""
        total = len(self._messages)
        self._start_ns = start_ns
        self._answered_s = time.monotonic()
        while self.counts["acknowledged"] < total:
            self._send()
            readable, _, _ = select.select([self._wire.stream], [], [], self._wait_s())
            if readable:
                self._read()
            elif self._open() and time.monotonic() - self._answered_s > _SILENCE_S:
                return

    def _open(self) -> int:
        """Messages sent and not answered."""
        return len(self._sent) - self.counts["acknowledged"]

    def _due_ns(self, number: int) -> int:
        return self._start_ns + int(self._messages[number][0] * 1e6)

    def _wait_s(self) -> float:
        """Until the next message is due; a second where nothing can be sent before an answer comes."""
        number = len(self._sent)
        if number == len(self._messages) or self._open() >= self._window:
            return 1.0
        return min(1.0, max(0.0, (self._due_ns(number) - time.monotonic_ns()) / 1e9))

    def _send(self) -> None:
        """Sends what is due, in one write."""
        out = []
        now_ns = time.monotonic_ns()
        while len(self._sent) < len(self._messages) and self._open() < self._window:
            number = len(self._sent)
            _, work, is_critical = self._messages[number]
            due_ns = self._due_ns(number)
            if due_ns > now_ns:
                break
            out.append(self._packets[is_critical].packet(number % 65535 + 1, PAYLOAD.pack(number, work)))
            self._sent.append((due_ns, now_ns))
        if out:
            if self._open() == len(out):
                self._answered_s = now_ns / 1e9  # until now there was nothing to answer
            self._wire.stream.sendall(b"".join(out))

    def _read(self) -> None:
        if not self._wire.receive():
            raise LapwingError("the broker closed the publisher's connection")
        for first, body in self._wire.packets():
            if first & 0xF0 == DISCONNECT:
                raise LapwingError(f"the broker disconnected the publisher with reason code {body[:1].hex() or '00'}")
            if first != PUBACK:
                continue
            reason = body[2] if len(body) > 2 else 0
            self.counts["acknowledged"] += 1
            self.counts["refused"] += reason >= _REFUSED
            self.counts["no_subscriber"] += reason == _NO_SUBSCRIBER
            self._answered_s = time.monotonic()

    def write(self, path: Path) -> None:
        """Writes its records, one per message of the trace."""
        unsent = [(self._due_ns(number), 0) for number in range(len(self._sent), len(self._messages))]
        path.write_bytes(b"".join(SENT.pack(*record) for record in [*self._sent, *unsent]))


def main() -> None:
    """The publisher from its first word to its last."""
    order = Order(**json.loads(sys.argv[1]))
    publisher = Publisher(order)
    print("ready", flush=True)  # noqa: T201 (this is its protocol)
    before_s = time.process_time()
    try:
        publisher.run(int(sys.stdin.readline() or 0))
    finally:
        spent_s = time.process_time() - before_s
        publisher.write(Path(order.records))
    print(json.dumps(publisher.counts | {"cpu_s": spent_s}), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
