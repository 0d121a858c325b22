"""A client of raw bytes with what statements ask about: properties, sessions, the end of a connection."""

from __future__ import annotations

import struct
import time
from typing import Any

import wire
from wire import CONNACK, DISCONNECT, PUBACK, PUBLISH, PUBREC, PUBREL, SUBACK, UNSUBACK, Packet, text, varint

NUMBER_1, NUMBER_2, NUMBER_4, VARINT, TEXT, BINARY, PAIR = "B", "H", "I", "varint", "text", "binary", "pair"
PROPERTIES = {
    "payload_format": (0x01, NUMBER_1),
    "message_expiry": (0x02, NUMBER_4),
    "content_type": (0x03, TEXT),
    "response_topic": (0x08, TEXT),
    "correlation_data": (0x09, BINARY),
    "subscription_id": (0x0B, VARINT),
    "session_expiry": (0x11, NUMBER_4),
    "assigned_client_id": (0x12, TEXT),
    "server_keep_alive": (0x13, NUMBER_2),
    "auth_method": (0x15, TEXT),
    "auth_data": (0x16, BINARY),
    "request_problem_information": (0x17, NUMBER_1),
    "will_delay": (0x18, NUMBER_4),
    "request_response_information": (0x19, NUMBER_1),
    "response_information": (0x1A, TEXT),
    "server_reference": (0x1C, TEXT),
    "reason_string": (0x1F, TEXT),
    "receive_maximum": (0x21, NUMBER_2),
    "topic_alias_maximum": (0x22, NUMBER_2),
    "topic_alias": (0x23, NUMBER_2),
    "maximum_qos": (0x24, NUMBER_1),
    "retain_available": (0x25, NUMBER_1),
    "user": (0x26, PAIR),
    "maximum_packet_size": (0x27, NUMBER_4),
    "wildcard_available": (0x28, NUMBER_1),
    "subscription_id_available": (0x29, NUMBER_1),
    "shared_available": (0x2A, NUMBER_1),
}
_NAMES = {number: (name, kind) for name, (number, kind) in PROPERTIES.items()}


def properties(**values: Any) -> bytes:
    """Properties by name, without their length; a list stands for a property that is repeated."""
    out = b""
    for name, value in values.items():
        number, kind = PROPERTIES[name]
        for one in value if isinstance(value, list) else [value]:
            out += bytes([number]) + _encoded(kind, one)
    return out


def _encoded(kind: str, value: Any) -> bytes:
    if kind == PAIR:
        return text(value[0]) + text(value[1])
    if kind in (TEXT, BINARY):
        return text(value)
    return varint(value) if kind == VARINT else struct.pack("!" + kind, value)


def properties_of(packet: Packet) -> dict[str, list[Any]]:
    """The properties of a packet from the broker, by name, each with all its values."""
    at = {CONNACK: 2, SUBACK: 2, UNSUBACK: 2, DISCONNECT: 1}.get(packet.kind, 3)
    if packet.kind == PUBLISH:
        at = 2 + len(packet.topic.encode()) + (2 if packet.qos else 0)
    found: dict[str, list[Any]] = {}
    if packet.version != 5 or at >= len(packet.body):
        return found
    length, at = _varint(packet.body, at)
    end = at + length
    while at < end:
        name, kind = _NAMES[packet.body[at]]
        value, at = _decoded(kind, packet.body, at + 1)
        found.setdefault(name, []).append(value)
    assert at == end, f"the properties of {packet} do not end where they should"
    return found


def _decoded(kind: str, data: bytes, at: int) -> tuple[Any, int]:
    if kind == PAIR:
        name, at = _decoded(TEXT, data, at)
        value, at = _decoded(TEXT, data, at)
        return (name, value), at
    if kind in (TEXT, BINARY):
        end = at + 2 + int(struct.unpack_from("!H", data, at)[0])
        return (data[at + 2 : end].decode() if kind == TEXT else data[at + 2 : end]), end
    if kind == VARINT:
        return _varint(data, at)
    return struct.unpack_from("!" + kind, data, at)[0], at + struct.calcsize("!" + kind)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return value, at


def connect_bytes(
    version: int,
    client_id: str | bytes | None = "c",
    *,
    flags: int = 2,
    fields: bytes = b"",
    properties: bytes = b"",
    keep_alive_s: int = 0,
    name: str | bytes = "MQTT",
    level: int | None = None,
) -> bytes:
    """A CONNECT in which everything may be wrong: `flags` and `fields` (after the client id) are as given."""
    head = text(name) + bytes([version if level is None else level, flags]) + struct.pack("!H", keep_alive_s)
    section = varint(len(properties)) + properties if version == 5 else b""
    return wire.packet(0x10, head + section + (b"" if client_id is None else text(client_id)) + fields)


class Peer(wire.Wire):
    """A connection that knows how to begin, and which end it expects."""

    connack: Packet

    def receive(self, timeout_s: float = wire.TIMEOUT_S) -> Packet | None:
        """The next packet; its reserved flags are checked, in every test."""
        found = super().receive(timeout_s)
        if found is not None and found.kind != PUBLISH:
            assert found.first & 15 == (2 if found.kind == PUBREL else 0), found
        return found

    def join(
        self,
        client_id: str,
        *,
        keep: bool = False,
        clean: bool | None = None,
        expiry_s: int = 60,
        properties: bytes = b"",
        **options: Any,
    ) -> Packet:
        """Connects; `keep` asks for a session that outlives the connection, in the way of the version."""
        if keep and self.version == 5:
            properties += PROPERTIES["session_expiry"][0].to_bytes() + struct.pack("!I", expiry_s)
        clean = not keep if clean is None else clean
        packet = wire.connect(client_id, version=self.version, clean=clean, properties=properties, **options)
        self.send(packet)
        self.client_id = client_id
        self.connack = self.expect(CONNACK)
        assert self.connack.reason == 0, self.connack
        return self.connack

    @property
    def session_present(self) -> bool:
        return bool(self.connack.body[0] & 1)

    def subscribe_to(self, *filters: str | tuple[str, int], packet_id: int = 1, properties: bytes = b"") -> bytes:
        """Subscribes; returns the codes. Messages that come before the SUBACK are an error here."""
        packet = wire.subscribe(*filters, packet_id=packet_id, properties=properties, version=self.version)
        self.send(packet)
        return self.codes(self.expect(SUBACK))

    def codes(self, packet: Packet) -> bytes:
        """The codes of a SUBACK or UNSUBACK."""
        if self.version == 4:
            return packet.body[2:]
        length, at = _varint(packet.body, 2)
        return packet.body[at + length :]

    def publish(self, topic: str, payload: bytes = b"", *, qos: int = 0, packet_id: int = 1, **options: Any) -> None:
        """Publishes, up to the last acknowledgement."""
        self.send(wire.publish(topic, payload, qos=qos, packet_id=packet_id, version=self.version, **options))
        if qos == 1:
            assert self.expect(PUBACK).packet_id == packet_id
        elif qos == 2:
            assert self.expect(PUBREC).packet_id == packet_id
            self.send(wire.ack(PUBREL, packet_id))
            assert self.expect(wire.PUBCOMP).packet_id == packet_id

    def message(self, payload: bytes | None = None) -> Packet:
        """The next packet, a PUBLISH."""
        found = self.expect(PUBLISH)
        assert payload is None or found.payload == payload, found
        return found

    def messages_until(self, payload: bytes) -> list[Packet]:
        """The PUBLISHes that come before the one with this payload."""
        before: list[Packet] = []
        while (found := self.message()).payload != payload:
            before.append(found)
        return before

    def closed(self, reason: int | tuple[int, ...] | None = None) -> None:
        """Expects the end: after a DISCONNECT with this reason in 5.0, without a word in 3.1.1."""
        found = self.until_end()
        if self.version == 4 or reason is None:
            assert found == [], found
            return
        assert [packet.kind for packet in found] == [DISCONNECT], found
        expected = reason if isinstance(reason, tuple) else (reason,)
        assert found[0].reason in expected, f"0x{found[0].reason:02x} instead of {[hex(code) for code in expected]}"

    def until_end(self) -> list[Packet]:
        """Everything up to the end of the connection; a reset counts as an end."""
        found: list[Packet] = []
        try:
            while (packet := self.receive()) is not None:
                found.append(packet)
        except ConnectionError:
            pass
        return found

    def leave(self) -> None:
        """DISCONNECT, and the broker's closing."""
        self.send(wire.DISCONNECT_NORMAL)
        assert self.until_end() == []
        self.close()


def pass_time(seconds: float) -> None:
    """Lets time pass that a statement is about (an interval that runs out); never used to wait for an answer."""
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        time.sleep(left)
