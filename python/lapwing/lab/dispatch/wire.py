"""The few packets of MQTT 5.0 that a member and the publisher of the experiment speak.

Standard library only, and as little per message as can be: twenty members share two cores with the broker. It is the
experiment's own, so that a member costs the same whichever broker it works for.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator, Mapping

from lapwing.errors import ConnectError, LapwingError

CONNACK, PUBLISH, PUBACK, SUBACK, DISCONNECT = 0x20, 0x30, 0x40, 0x90, 0xE0
PINGREQ = b"\xc0\x00"
_RECEIVE_MAXIMUM, _SERVER_KEEP_ALIVE, _USER_PROPERTY = 0x21, 0x13, 0x26
_SIZES = {0x11: 4, 0x27: 4, 0x22: 2, 0x24: 1, 0x25: 1, 0x28: 1, 0x29: 1, 0x2A: 1, _RECEIVE_MAXIMUM: 2, 0x13: 2}
"""Bytes of the properties of a CONNACK that are not text."""
_READ_BYTES = 1 << 16


KEEP_ALIVE_S = 60
"""Asked for; longer than any stall, and not 0, which some brokers refuse."""


RECEIVE_MAXIMUM = 65_535


def connect(client_id: str, properties: Mapping[str, str], receive_maximum: int = RECEIVE_MAXIMUM) -> bytes:
    """A CONNECT with clean start; ``properties``: user properties."""
    own = struct.pack(">BH", _RECEIVE_MAXIMUM, receive_maximum) + _user(properties)
    body = _text("MQTT") + b"\x05\x02" + struct.pack(">H", KEEP_ALIVE_S) + _length(len(own)) + own + _text(client_id)
    return _packet(0x10, body)


def subscribe(topic_filter: str) -> bytes:
    """A SUBSCRIBE at QoS 1, with packet id 1."""
    return _packet(0x82, b"\x00\x01\x00" + _text(topic_filter) + b"\x01")


class Publishing:
    """PUBLISHes at QoS 1 that differ in packet id and payload only, and payloads of one size.

    Args:
        properties: User properties.
    """

    def __init__(self, topic: str, properties: Mapping[str, str], payload_bytes: int) -> None:
        head, tail = _text(topic), encoded(properties)
        self._head = b"\x32" + _length(len(head) + 2 + len(tail) + payload_bytes) + head
        self._tail = tail

    def packet(self, packet_id: int, payload: bytes) -> bytes:
        """One of them."""
        return self._head + packet_id.to_bytes(2) + self._tail + payload


def puback(packet_id: bytes, properties: bytes = b"") -> bytes:
    """A PUBACK for an id as it came; ``properties``: what ``encoded`` made."""
    if not properties:
        return b"\x40\x02" + packet_id
    return _packet(PUBACK, packet_id + b"\x00" + properties)


def encoded(properties: Mapping[str, str]) -> bytes:
    """User properties as a packet holds them, with their length."""
    own = _user(properties)
    return _length(len(own)) + own


def _text(value: str) -> bytes:
    encoded = value.encode()
    return struct.pack(">H", len(encoded)) + encoded


def _user(properties: Mapping[str, str]) -> bytes:
    return b"".join(bytes((_USER_PROPERTY,)) + _text(key) + _text(value) for key, value in properties.items())


def _length(value: int) -> bytes:
    out = bytearray()
    while value >= 128:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _packet(first: int, body: bytes) -> bytes:
    return bytes((first,)) + _length(len(body)) + body


class Wire:
    """One connection: whole packets as they come.

    Args:
        stream: Connected; every read here blocks as the socket does.
    """

    def __init__(self, stream: socket.socket) -> None:
        self.stream = stream
        self._input = bytearray()

    def receive(self) -> bool:
        """Reads once; false when the other side has closed."""
        try:
            read = self.stream.recv(_READ_BYTES)
        except ConnectionError:
            return False
        self._input += read
        return bool(read)

    def packets(self) -> Iterator[tuple[int, bytes]]:
        """The whole packets read so far, each with its first byte, without its length."""
        data, at = self._input, 0
        try:
            while len(data) - at >= 2:
                length, shift, body = data[at + 1] & 0x7F, 7, at + 2
                while data[body - 1] & 0x80:
                    if body >= len(data):
                        return
                    length |= (data[body] & 0x7F) << shift
                    shift, body = shift + 7, body + 1
                if len(data) - body < length:
                    return
                first = data[at]
                at = body + length
                yield first, bytes(data[body:at])
        finally:
            del data[:at]

    def expect(self, kind: int) -> bytes:
        """Waits for one packet, which must be of this kind; for what comes before any message.

        Raises:
            LapwingError: another one came, or the connection was closed.
        """
        while True:
            for first, body in self.packets():
                if first & 0xF0 != kind:
                    raise LapwingError(f"the broker sent packet {first:#04x} where {kind:#04x} is due")
                return body
            if not self.receive():
                raise LapwingError(f"the broker closed the connection where packet {kind:#04x} is due")

    def open(self, packet: bytes) -> tuple[int, int]:
        """Sends a CONNECT and waits for its CONNACK; gives Receive Maximum and keep alive, in seconds, as granted.

        Raises:
            ConnectError: refused.
        """
        self.stream.sendall(packet)
        body = self.expect(CONNACK)
        if body[1]:
            raise ConnectError(f"the broker refused the connection with reason code {body[1]:#04x}")
        return _granted(body[2:])


def _granted(properties: bytes) -> tuple[int, int]:
    receive_maximum, keep_alive_s = 0xFFFF, KEEP_ALIVE_S
    length, at = _read_length(properties, 0)
    end = at + length
    while at < end:
        name = properties[at]
        if name == _USER_PROPERTY:
            for _ in range(2):
                at += 2 + int.from_bytes(properties[at + 1 : at + 3])
            at += 1
            continue
        size = _SIZES.get(name) or 2 + int.from_bytes(properties[at + 1 : at + 3])
        value = int.from_bytes(properties[at + 1 : at + 1 + size])
        if name == _RECEIVE_MAXIMUM:
            receive_maximum = value
        elif name == _SERVER_KEEP_ALIVE:
            keep_alive_s = value
        at += 1 + size
    return receive_maximum, keep_alive_s


def _read_length(data: bytes, at: int) -> tuple[int, int]:
    """A variable length, and where what follows it begins."""
    value, shift = 0, 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def message(body: bytes) -> tuple[bytes, bytes]:
    """Packet id and payload of a PUBLISH at QoS 1."""
    at = 2 + int.from_bytes(body[:2])
    packet_id = body[at : at + 2]
    length, at = _read_length(body, at + 2)
    return packet_id, body[at + length :]
