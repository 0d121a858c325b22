"""One member of the group, a process: takes a PUBLISH, works, acknowledges, until it is told to end.

``python -m lapwing.lab.dispatch.member ORDER``; ORDER is JSON with the fields of ``Order``. Says "ready" on standard
output when it is subscribed, reads the trace's start in nanoseconds from standard input, and writes its ``HANDLED``
records at SIGTERM, or when its standard input ends.

A single worker: messages are handled in the order in which they came, and each takes its work divided by the speed that
its day has then. While it is paused or stalled it is deaf: it neither reads nor answers. When its connection is lost it
forgets what it had not begun, as a client must that acknowledges at the end; what it had begun it ends, unacknowledged.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import sys
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from lapwing.errors import LapwingError
from lapwing.lab.dispatch.books import HANDLED, IS_ACKNOWLEDGED, IS_DUP, PAYLOAD, Clock, Tally
from lapwing.lab.dispatch.day import Day
from lapwing.lab.dispatch.wire import DISCONNECT, PINGREQ, PUBLISH, SUBACK, Wire, connect, encoded, message, puback
from lapwing.lab.dispatch.wire import subscribe as subscribe_packet

_AGAIN_S = 0.1
"""Between two attempts to come back."""


@dataclass(frozen=True)
class Order:
    """What a member is told.

    Attributes:
        day: ``Day`` as JSON.
        address: Where it connects: host and port.
        source: The address it connects from; empty: any.
        declares: User properties of its CONNECT.
        reports: Whether its PUBACKs say how many messages wait with it.
        receive_maximum: The most that it may have unacknowledged.
        tally: File of ``Tally``.
        records: File to write.
    """

    day: dict[str, list[float]]
    address: tuple[str, int]
    source: str
    client_id: str
    topic_filter: str
    declares: dict[str, str]
    reports: bool
    receive_maximum: int
    tally: str
    records: str


class Task(NamedTuple):
    """A message that it has."""

    packet_id: bytes
    number: int
    flags: int
    received_ns: int
    start_ms: float
    due_ms: float


class Member:
    """The member; ``run`` returns when standard input ends."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._day = Day.from_json(order.day)
        self._tally = Tally(Path(order.tally))
        self._tasks: deque[Task] = deque()
        self._free_ms = 0.0
        self._spoke_s = 0.0
        self._handled: list[tuple[int, int, int, int, int]] = []
        self._wire, self._keep_alive_s = self._come_in()
        self._clock = Clock(0)

    def _come_in(self) -> tuple[Wire, int]:
        order = self._order
        source = (order.source, 0) if order.source else None
        host, port = order.address
        stream = socket.create_connection((host, port), timeout=10, source_address=source)
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        wire = Wire(stream)
        _, keep_alive_s = wire.open(connect(order.client_id, order.declares, order.receive_maximum))
        stream.sendall(subscribe_packet(order.topic_filter))
        granted = wire.expect(SUBACK)[-1]
        if granted != 1:
            raise LapwingError(f"the broker answered the shared subscription with {granted:#04x}, not QoS 1")
        self._spoke_s = time.monotonic()
        return wire, keep_alive_s

    def run(self, start_ns: int) -> None:
        """Works from ``start_ns`` on."""
        self._clock = Clock(start_ns)
        stdin = sys.stdin.fileno()
        while True:
            self._sleep_while_frozen()
            readable, _, _ = select.select([self._wire.stream, stdin], [], [], self._wait_s())
            if stdin in readable and not os.read(stdin, 1):
                return
            if self._wire.stream in readable and not self._read():
                self._come_back()
            self._end_due()

    def _sleep_while_frozen(self) -> None:
        now_ms = self._clock.now_ms()
        until_ms = self._day.frozen_until_ms(now_ms)
        if until_ms > now_ms:
            time.sleep((until_ms - now_ms) / 1e3)

    def _wait_s(self) -> float:
        """Until the next thing to do by itself; at most a second."""
        wait_s = 1.0
        if self._tasks:
            wait_s = min(wait_s, (self._tasks[0].due_ms - self._clock.now_ms()) / 1e3)
        return max(0.0, wait_s)

    def _read(self) -> bool:
        """Takes what has come; false when the connection is over."""
        if not self._wire.receive():
            return False
        now_ns = time.monotonic_ns()
        now_ms = self._clock.now_ms()
        for first, body in self._wire.packets():
            if first & 0xF0 == DISCONNECT:
                return False
            if first & 0xF6 == PUBLISH | 0x02:
                self._take(first, body, now_ns, now_ms)
        return True

    def _take(self, first: int, body: bytes, now_ns: int, now_ms: float) -> None:
        packet_id, payload = message(body)
        number, work = PAYLOAD.unpack(payload)
        start_ms = max(self._free_ms, now_ms)
        self._free_ms = self._day.finish_ms(start_ms, work)
        flags = IS_DUP if first & 0x08 else 0
        self._tasks.append(Task(packet_id, number, flags, now_ns, start_ms, self._free_ms))

    def _end_due(self) -> None:
        """Ends every task that is due, and acknowledges."""
        now_ms = self._clock.now_ms()
        answers = []
        while self._tasks and self._tasks[0].due_ms <= now_ms:
            task = self._tasks.popleft()
            self._record(task, task.flags | IS_ACKNOWLEDGED, time.monotonic_ns())
            report = encoded({"lapwing-queue": str(len(self._tasks))}) if self._order.reports else b""
            answers.append(puback(task.packet_id, report))
        if not answers and self._keep_alive_s and time.monotonic() - self._spoke_s > self._keep_alive_s / 2:
            answers.append(PINGREQ)
        if answers:
            self._spoke_s = time.monotonic()
            with suppress(ConnectionError):  # the next read says so too, and there it is dealt with
                self._wire.stream.sendall(b"".join(answers))

    def _record(self, task: Task, flags: int, ended_ns: int) -> None:
        self._handled.append((task.number, flags, task.received_ns, self._clock.ns(task.due_ms), ended_ns))
        self._tally.count(task.number)

    def _come_back(self) -> None:
        """After a lost connection: ends what is in hand, forgets the rest, connects again."""
        self._wire.stream.close()
        now_ms = self._clock.now_ms()
        self._free_ms = now_ms
        if self._tasks and self._tasks[0].start_ms <= now_ms:
            task = self._tasks[0]
            self._record(task, task.flags, self._clock.ns(task.due_ms))
            self._free_ms = task.due_ms
        self._tasks.clear()
        while True:
            with suppress(LapwingError, OSError):
                self._wire, self._keep_alive_s = self._come_in()
                return
            time.sleep(_AGAIN_S)

    def write(self) -> None:
        """Writes its records."""
        Path(self._order.records).write_bytes(b"".join(HANDLED.pack(*record) for record in self._handled))


def _end(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


def main() -> None:
    """One member from its first word to its last."""
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the experiment decides when members end
    member = Member(Order(**json.loads(sys.argv[1])))
    print("ready", flush=True)  # noqa: T201 (this is its protocol)
    before_s = time.process_time()
    try:
        member.run(int(sys.stdin.readline() or 0))
    finally:
        spent_s = time.process_time() - before_s
        member.write()
        print(json.dumps({"cpu_s": spent_s}), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
