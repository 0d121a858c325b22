"""One client's way to the cluster: the addresses of all nodes, tried in turn until one serves."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from lapwing.lab.cluster_demo import packets
from lapwing.lab.cluster_demo.packets import CONNACK, DISCONNECT, REFUSED, Packet

KEPT_S = 3_600
"""How long sessions outlive their connections."""

_ANSWER_S = 5.0
"""A node that has not answered a CONNECT for so long is given up."""
_PAUSE_S, _PAUSE_MAX_S = 0.1, 1.0
"""After all nodes have refused; doubled each time, and drawn, so that clients do not come all at once."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a node is when it serves."""

    node: str
    host: str
    port: int


class Session(Protocol):
    """What outlives connections: `Sender` or `Receiver`."""

    client_id: str
    is_ready: bool

    def resume(self, *, is_present: bool) -> bytes:
        """What goes out first."""

    def take(self, packet: Packet) -> bytes:
        """What goes out in answer."""


@dataclass(frozen=True, slots=True)
class Ears:
    """Whom a line tells."""

    connected: Callable[[str, bool], None]
    """The node, and whether it had the session."""
    heard: Callable[[str, Packet], None]
    """The node, and what it has sent."""
    failed: Callable[[Exception], None]
    """A client got what cannot be."""


class Line(asyncio.Protocol):
    """Keeps one client connected until it is closed.

    Attributes:
        session: The client's.
        is_there: A node has taken it in.
    """

    def __init__(self, session: Session, addresses: Sequence[Address], ears: Ears) -> None:
        self.session = session
        self.is_there = False
        self._addresses, self._ears = addresses, ears
        self._at = 0
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        self._ended = asyncio.Event()

    async def keep(self) -> None:
        """Connects, again and again, until it is cancelled."""
        pause_s, refusals = _PAUSE_S, 0
        while True:
            if await self._connect():
                pause_s, refusals = _PAUSE_S, 0
            else:
                refusals += 1
            self._at = (self._at + 1) % len(self._addresses)
            if refusals and refusals % len(self._addresses) == 0:
                await asyncio.sleep(random.uniform(0, pause_s))  # noqa: S311 (no secret)
                pause_s = min(2 * pause_s, _PAUSE_MAX_S)

    def send(self, data: bytes) -> None:
        """To the node that has it; nothing goes out without one."""
        if data and self._transport is not None:
            self._transport.write(data)

    def close(self) -> None:
        """Says goodbye; its session stays."""
        self.send(packets.GOODBYE)
        if self._transport is not None:
            self._transport.close()

    async def _connect(self) -> bool:
        """One connection, to its end; false where nobody serves there."""
        address, loop = self._addresses[self._at], asyncio.get_running_loop()
        self._ended.clear()
        self._buffer.clear()
        try:
            await loop.create_connection(lambda: self, address.host, address.port)
        except OSError:
            return False
        given_up = loop.call_later(_ANSWER_S, self._give_up)
        await self._ended.wait()
        given_up.cancel()
        was_there, self.is_there = self.is_there, False
        return was_there

    def _give_up(self) -> None:
        if not self.is_there and self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Introduces the client."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(packets.connect(self.session.client_id, expiry_s=KEPT_S))

    def data_received(self, data: bytes) -> None:
        """Answers what has come, in one write."""
        self._buffer += data
        try:
            self.send(b"".join(map(self._answer, packets.take(self._buffer))))
        except Exception as fault:
            self._ears.failed(fault)

    def connection_lost(self, fault: Exception | None) -> None:  # noqa: ARG002 (why makes no difference)
        """It may be made again."""
        self._transport = None
        self._ended.set()

    def _answer(self, packet: Packet) -> bytes:
        node = self._addresses[self._at].node
        if packet.kind == DISCONNECT or (packet.kind == CONNACK and packet.reason >= REFUSED):
            return b""  # the node closes behind it; another one is tried
        if packet.kind == CONNACK:
            self.is_there = True
            answer = self.session.resume(is_present=packet.session_present)
            self._ears.connected(node, packet.session_present)
            return answer
        answer = self.session.take(packet)
        self._ears.heard(node, packet)
        return answer
