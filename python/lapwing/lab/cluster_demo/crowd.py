"""All clients of the demo, on an event loop of their own thread."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from lapwing.errors import LapwingError
from lapwing.lab.cluster_demo.books import Books, Verdict
from lapwing.lab.cluster_demo.line import Address, Ears, Line
from lapwing.lab.cluster_demo.outage import Outage
from lapwing.lab.cluster_demo.packets import PUBACK, PUBREC, Packet
from lapwing.lab.cluster_demo.receiver import Receiver
from lapwing.lab.cluster_demo.sender import Sender

_TICK_S = 0.01
_GOODBYE_S = 5.0


class Crowd:
    """Pairs of a publisher and a subscriber; every other publisher has QoS 1, the others QoS 2.

    Use it in a ``with`` block, which begins to connect. Methods are for the thread that made it; everything behind them
    happens on the clients' own.

    Args:
        pairs: How many.
        addresses: Of all nodes.
        rate: Messages a second over all publishers, while they are connected.
    """

    def __init__(self, pairs: int, addresses: Sequence[Address], rate: float) -> None:
        levels = [1 + number % 2 for number in range(pairs)]
        self._books = Books(levels)
        self._rate = rate
        ears = Ears(self._connected, self._heard, self._failed)
        self._senders = [Sender(number, qos, self._books) for number, qos in enumerate(levels)]
        self._outgoing = [(sender, Line(sender, addresses, ears)) for sender in self._senders]
        receivers = [Receiver(number, self._books) for number in range(pairs)]
        self._lines = [Line(receiver, addresses, ears) for receiver in receivers]
        self._lines += [line for _, line in self._outgoing]
        self._outage: Outage | None = None
        self._failure: Exception | None = None
        self._is_publishing = False
        self._loop = asyncio.new_event_loop()
        self._over = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="cluster-demo-clients", daemon=True)

    @property
    def clients(self) -> int:
        """All of them."""
        return len(self._lines)

    @property
    def ready(self) -> int:
        """Clients that are connected, with their subscriptions granted."""
        return sum(line.is_there and line.session.is_ready for line in self._lines)

    @property
    def acknowledged(self) -> int:
        """Messages, so far."""
        return self._books.acknowledged

    @property
    def delivered(self) -> int:
        """Messages, so far."""
        return self._books.delivered

    @property
    def is_settled(self) -> bool:
        """Whether all that was published is answered, and all that was acknowledged has come."""
        return not any(sender.in_flight for sender in self._senders) and self._books.missing == 0

    def check(self) -> None:
        """Raises what a client could not go on with."""
        if self._failure is not None:
            what = f"a client cannot go on: {self._failure}"
            raise LapwingError(what, remedy="that is a defect: please report it") from self._failure

    def publish(self, *, goes_on: bool) -> None:
        """Begins to, or stops."""
        self._loop.call_soon_threadsafe(self._set_publishing, goes_on)

    def watch(self, outage: Outage) -> None:
        """Writes into ``outage`` from now on; before the kill."""
        self._loop.call_soon_threadsafe(self._set_outage, outage)

    def verdict(self) -> Verdict:
        """After the end of the block; messages that were refused count as published."""
        return self._books.verdict()

    @property
    def refused(self) -> int:
        """Messages that a broker did not take."""
        return sum(sender.refused for sender in self._senders)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(_GOODBYE_S)

    def _set_publishing(self, goes_on: bool) -> None:
        self._is_publishing = goes_on

    def _set_outage(self, outage: Outage) -> None:
        self._outage = outage

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._live())

    async def _live(self) -> None:
        tasks = [asyncio.create_task(line.keep()) for line in self._lines]
        tasks.append(asyncio.create_task(self._publish()))
        for task in tasks:
            task.add_done_callback(self._ended)
        await self._over.wait()
        for task in tasks:
            task.cancel()
        for line in self._lines:
            line.close()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _publish(self) -> None:
        """One after the other; who is not connected, or has too much unacknowledged, is passed over."""
        due, at, before_s = 0.0, 0, time.monotonic()
        while True:
            await asyncio.sleep(_TICK_S)
            now_s = time.monotonic()
            due += (now_s - before_s) * self._rate if self._is_publishing else 0.0
            before_s = now_s
            while due >= 1:
                sender, line = self._outgoing[at]
                if line.is_there:
                    line.send(sender.publish())
                due, at = due - 1, (at + 1) % len(self._outgoing)

    def _connected(self, node: str, is_present: bool) -> None:
        if self._outage is not None:
            now_s = time.monotonic()
            self._outage.connected(node, now_s, is_present=is_present)
            if all(line.is_there for line in self._lines):
                self._outage.all_connected(now_s)

    def _heard(self, node: str, packet: Packet) -> None:
        if self._outage is not None and packet.kind in (PUBACK, PUBREC):
            self._outage.acknowledged(node, time.monotonic())

    def _ended(self, task: asyncio.Task[None]) -> None:
        """A client lives to the end; one that does not says why."""
        if not task.cancelled() and (fault := task.exception()) is not None:
            self._failed(fault if isinstance(fault, Exception) else RuntimeError(repr(fault)))

    def _failed(self, fault: Exception) -> None:
        self._failure = self._failure or fault
