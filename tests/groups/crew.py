"""Members whose sessions live on, and what a group says of its messages."""

from __future__ import annotations

import contextlib
import json
import struct
from collections.abc import Callable
from typing import Any, Self

import wire
from members import Member, group, groups
from wire import Packet, until

from lapwing import Broker

SHARES = [1, 3]
"""Numbers of shards: all on one, and owner, member and publisher apart."""
TIGHT = {"mailbox_batches": 1, "mailbox_batch_messages": 1}
"""Limits under which shards wait for each other all the time."""
SESSION_TAKEN_OVER, ADMINISTRATIVE_ACTION, QUOTA_EXCEEDED = 0x8E, 0x98, 0x97


class Hand(Member):
    """A member whose session may outlive its connection."""

    connack: Packet

    @classmethod
    def joins(
        cls,
        url: str,
        client_id: str,
        share: str | None = "$share/g/t/#",
        *,
        qos: int = 1,
        version: int = 5,
        clean: bool = False,
        expiry_s: int = 600,
        properties: bytes = b"",
        options: int = 0,
        subscription: bytes = b"",
    ) -> Self:
        """Connected and, unless `share` is None, subscribed; `options` are those of the subscription beside the QoS."""
        hand = cls(url, version)
        if version == 5:
            properties += b"\x11" + struct.pack("!I", expiry_s)
        hand.send(wire.connect(client_id, version=version, clean=clean, properties=properties))
        hand.connack = hand.expect(wire.CONNACK)
        assert hand.connack.reason == 0
        if share is not None:
            granted = hand.asks((share, qos | options), properties=subscription)
            assert granted == bytes([qos]), granted
        return hand

    def asks(self, *filters: tuple[str, int], properties: bytes = b"") -> bytes:
        """Subscribes; returns the codes of the SUBACK. Messages that come before it are kept."""
        self.send(wire.subscribe(*filters, version=self.version, properties=properties))
        return self.answer(wire.SUBACK)[-len(filters) :]

    def leaves(self, *filters: str) -> None:
        """Unsubscribes and waits for the UNSUBACK."""
        self.send(wire.unsubscribe(*filters, version=self.version))
        self.answer(wire.UNSUBACK)

    def answer(self, kind: int) -> bytes:
        """The body of the next packet of this kind; messages before it come again."""
        early: list[Packet] = []
        while (found := self.receive()) is not None and found.kind != kind:
            assert found.kind == wire.PUBLISH, found
            early.append(found)
        assert found is not None, "the broker closed the connection"
        self._bytes[:0] = b"".join(wire.packet(packet.first, packet.body) for packet in early)
        return found.body

    def round_trip_kept(self) -> None:
        """Waits until the broker has read everything; messages that come before it says so come again."""
        self.send(wire.PING)
        self.answer(wire.PINGRESP)

    def goes(self) -> None:
        """Ends the connection without a word."""
        self.close()

    def last_words(self) -> tuple[list[Packet], int]:
        """The messages until the broker ends the connection, and the reason of its DISCONNECT; -1: there was none."""
        messages: list[Packet] = []
        reason = -1
        with contextlib.suppress(ConnectionError):
            while (found := self.receive()) is not None:
                if found.kind == wire.PUBLISH:
                    messages.append(found)
                elif found.kind == wire.DISCONNECT:
                    reason = found.reason
        return messages, reason

    def dismissed(self) -> int:
        """The reason with which the broker ends the connection."""
        return self.last_words()[1]

    def finishes(self, message: Packet) -> None:
        """Acknowledges a message of any QoS to its end."""
        if message.qos == 1:
            self.send(wire.ack(wire.PUBACK, message.packet_id))
        elif message.qos == 2:
            self.send(wire.ack(wire.PUBREC, message.packet_id))
            self.answer(wire.PUBREL)
            self.send(wire.ack(wire.PUBCOMP, message.packet_id))

    def takes(self, count: int) -> list[bytes]:
        """The payloads of so many messages, each finished before the next is read."""
        payloads = []
        for _ in range(count):
            message = self.expect(wire.PUBLISH)
            payloads.append(message.payload)
            self.finishes(message)
        return payloads


def publish(
    broker: Broker,
    *payloads: bytes,
    topic: str = "t/a",
    qos: int = 1,
    retain: bool = False,
    properties: bytes = b"",
    version: int = 5,
    client_id: str = "publisher",
) -> None:
    """Publishes, and returns when the broker has said of each that it is done; QoS 0: that all were read."""
    with Hand.joins(broker.url, client_id, share=None, version=version, clean=True) as publisher:
        for number, payload in enumerate(payloads, 1):
            options = {"qos": qos, "packet_id": number, "retain": retain, "version": version}
            publisher.send(wire.publish(topic, payload, properties=properties, **options))
            if qos == 2:
                publisher.expect(wire.PUBREC)
                publisher.send(wire.ack(wire.PUBREL, number))
                publisher.expect(wire.PUBCOMP)
        for _ in payloads if qos == 1 else ():
            publisher.expect(wire.PUBACK)
        publisher.round_trip()


def refusal(kind: int, packet_id: int, reason: int = 0x80) -> bytes:
    """A PUBACK or PUBREC that refuses the message."""
    return wire.packet(kind << 4, struct.pack("!HB", packet_id, reason))


def pairs(message: Packet) -> list[tuple[str, str]]:
    """The user properties of a message that has no others."""
    at = 2 + len(message.topic.encode()) + (2 if message.qos else 0)
    section = message.body[at : -len(message.payload)]
    length, rest = section[0], section[1:]
    if length >= 128:
        length, rest = length - 128 + 128 * section[1], section[2:]
    assert len(rest) == length
    found = []
    while rest:
        assert rest[0] == 0x26, rest
        name, rest = _text(rest[1:])
        value, rest = _text(rest)
        found.append((name, value))
    return found


def _text(data: bytes) -> tuple[str, bytes]:
    end = 2 + int(struct.unpack_from("!H", data)[0])
    return data[2:end].decode(), data[end:]


def dup(message: Packet) -> bool:
    return bool(message.first & 8)


def adds_up(of: dict[str, Any]) -> bool:
    """Whether every message given to the group has ended once, waits, or is with a member."""
    counters = of["counters"]
    ended = counters["acknowledged"] + counters["unacknowledged"] + counters["refused"]
    lost = sum(counters["dropped"].values()) + sum(counters["dead_lettered"].values())
    waiting = of["waiting_critical"] + of["waiting_bulk"]
    return bool(counters["published"] == ended + lost + waiting + of["unacknowledged"])


def until_group(broker: Broker, is_so: Callable[[dict[str, Any]], bool], name: str = "g") -> dict[str, Any]:
    """The group, as soon as it is so; its numbers add up at any time."""
    seen: list[dict[str, Any]] = []

    def look() -> bool:
        found = [one for one in groups(broker) if one["name"] == name]
        if not found:
            return False
        seen[:] = found
        assert adds_up(found[0]), found[0]
        return is_so(found[0])

    try:
        until(look)
    except AssertionError:
        raise AssertionError(f"the group is {json.dumps(seen, indent=1)}") from None
    return seen[0]


def until_counted(broker: Broker, name: str = "g", **counters: object) -> dict[str, Any]:
    """The group, as soon as it has counted so."""
    return until_group(broker, lambda found: counters.items() <= found["counters"].items(), name)


def until_presence(broker: Broker, client_id: str, presence: str | None) -> None:
    """Looks until a member of `g` is there in this way; None: until it is no member."""

    def is_so(found: dict[str, Any]) -> bool:
        there = {one["client_id"]: one["presence"] for one in found["members"]}
        return there.get(client_id) == presence

    until_group(broker, is_so)


def inflight(broker: Broker, client_id: str) -> int:
    """How many messages of `g` a member has."""
    return next(int(one["inflight"]) for one in group(broker)["members"] if one["client_id"] == client_id)
