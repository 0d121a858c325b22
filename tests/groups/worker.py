"""One client of the random test, and the ledger in which all of them write what they see."""

from __future__ import annotations

import random
import select
import struct
from collections import Counter, deque
from dataclasses import dataclass, field

import wire
from crew import Hand, refusal
from wire import Packet, until

SHARE = "$share/g/t/#"


@dataclass
class Ledger:
    """What must be so of every message, whatever happens to its members."""

    published: set[bytes] = field(default_factory=set)
    acknowledged: set[bytes] = field(default_factory=set)
    """Some member has said that it is finished."""
    refused: set[bytes] = field(default_factory=set)
    ended: set[bytes] = field(default_factory=set)
    """The broker has read that it is finished or refused: it may not be seen again."""
    holders: dict[bytes, Worker] = field(default_factory=dict)
    """Who has it and has not finished it, over a connection that is not known to be over."""
    begun: dict[bytes, tuple[str, int]] = field(default_factory=dict)
    """Whose session its delivery with QoS 2 has begun with."""
    handled: Counter[bytes] = field(default_factory=Counter)
    """How often a handler got it with QoS 2."""

    def comes(self, payload: bytes, to: Worker) -> None:
        """A member is sent a message that it has not got already."""
        assert payload not in self.ended, f"{payload!r} had ended and comes to {to.name}"
        session = self.begun.get(payload, to.session)
        assert session == to.session, f"{payload!r} has begun with {session} and comes to {to.session}"
        holder = self.holders.get(payload)
        if holder is not None and holder is not to:
            # The word of its end may be on its way.
            until(lambda: holder.is_over())
        self.holders[payload] = to

    def goes(self, payload: bytes) -> None:
        self.holders.pop(payload, None)


class Worker:
    """A client with a session, which works, dawdles, refuses, vanishes and comes back."""

    def __init__(self, url: str, name: str, ledger: Ledger, rng: random.Random) -> None:
        self.url, self.name, self.ledger, self.rng = url, name, ledger, rng
        self.incarnation = 0
        self.wire: Hand | None = None
        self.held: dict[int, Packet] = {}
        """By packet id what this connection was sent and has not answered."""
        self.received: dict[int, bytes] = {}
        """QoS 2 that the session has by its packet id, until it is released."""
        self.said: list[bytes] = []
        self.unsettled: deque[list[bytes]] = deque()
        """By PINGREQ, what was finished or refused before it."""
        self.refuses = rng.choice([0.0, 0.0, 0.1])

    @property
    def session(self) -> tuple[str, int]:
        return self.name, self.incarnation

    def connect(self, *, clean: bool) -> None:
        """A new connection; one that is there is taken over."""
        former, self.wire = self.wire, None
        self._forget_connection()
        if clean:
            self.received.clear()
            self.incarnation += 1
        window = self.rng.choice([None, 1, 2, 10])
        properties = b"\x21" + struct.pack("!H", window) if window else b""
        hand = Hand.joins(self.url, self.name, share=None, clean=clean, properties=properties)
        if not clean and not hand.connack.body[0]:
            self.received.clear()
            self.incarnation += 1
        self.wire = hand
        if former is not None:
            former.goes()

    def subscribe(self) -> None:
        self._send(wire.subscribe((SHARE, self.rng.choice([1, 2]))))

    def unsubscribe(self) -> None:
        self._send(wire.unsubscribe(SHARE))

    def vanish(self, *, politely: bool = False) -> None:
        if politely:
            self._send(wire.DISCONNECT_NORMAL)
        if self.wire is not None:
            self.wire.goes()
        self._over()

    def is_over(self) -> bool:
        """Looks whether the broker has ended the connection."""
        self.read()
        return self.wire is None

    def read(self) -> None:
        """Everything that has come."""
        while self.wire is not None and (self.wire._bytes or select.select([self.wire.socket], [], [], 0)[0]):
            try:
                found = self.wire.receive(0.001)
            except TimeoutError:
                return
            except OSError:
                found = None
            if found is None or found.kind == wire.DISCONNECT:
                self._over()
                return
            self._hear(found)

    def finish(self, most: int = 1000) -> None:
        """Acknowledges or refuses the oldest so many messages, and asks the broker whether it has heard."""
        for packet_id in list(self.held)[:most]:
            message = self.held.pop(packet_id)
            payload = message.payload
            refuses = self.rng.random() < self.refuses
            if message.qos == 2 and not refuses:
                self._handle(packet_id, payload)
                self._send(wire.ack(wire.PUBREC, packet_id))
                continue
            self.ledger.goes(payload)
            if refuses and packet_id not in self.received:
                self.ledger.refused.add(payload)
                self._send(refusal(wire.PUBACK if message.qos == 1 else wire.PUBREC, packet_id))
            elif message.qos == 1:
                self.ledger.acknowledged.add(payload)
                self._send(wire.ack(wire.PUBACK, packet_id))
            else:
                self._send(wire.ack(wire.PUBREC, packet_id))
            self.said.append(payload)
        if self.said:
            self.unsettled.append(self.said)
            self.said = []
            self._send(wire.PING)

    def _handle(self, packet_id: int, payload: bytes) -> None:
        if packet_id not in self.received:
            self.received[packet_id] = payload
            self.ledger.handled[payload] += 1

    def _hear(self, found: Packet) -> None:
        if found.kind == wire.PUBLISH:
            if self.received.get(found.packet_id) != found.payload or found.qos != 2:
                self.ledger.comes(found.payload, self)
            if found.qos == 2:
                self.ledger.begun[found.payload] = self.session
            self.held[found.packet_id] = found
        elif found.kind == wire.PUBREL:
            payload = self.received.pop(found.packet_id, None)
            if payload is not None:
                self.ledger.acknowledged.add(payload)
                self.ledger.goes(payload)
                self.said.append(payload)
            self._send(wire.ack(wire.PUBCOMP, found.packet_id))
        elif found.kind == wire.PINGRESP:
            self.ledger.ended.update(self.unsettled.popleft())

    def _send(self, packet: bytes) -> None:
        if self.wire is None:
            return
        try:
            self.wire.send(packet)
        except OSError:
            # The broker has ended the connection; the next look finds it.
            return

    def _over(self) -> None:
        if self.wire is not None:
            self.wire.close()
        self.wire = None
        self._forget_connection()

    def _forget_connection(self) -> None:
        for message in self.held.values():
            self.ledger.goes(message.payload)
        self.held.clear()
        self.said.clear()
        self.unsettled.clear()
