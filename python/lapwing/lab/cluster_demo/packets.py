"""The packets of MQTT 5.0 that the demo's clients send and take, as bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

CONNECT, CONNACK, PUBLISH, PUBACK, PUBREC, PUBREL, PUBCOMP = 1, 2, 3, 4, 5, 6, 7
SUBSCRIBE, SUBACK, DISCONNECT = 8, 9, 14

REFUSED = 0x80
"""Reason codes from here on say that something was not done."""

_LENGTH_BYTES_MAX = 4
_VERSION = 5
_SESSION_EXPIRY = 0x11


class Packet(NamedTuple):
    """One from the broker: its first byte, and what follows the length."""

    first: int
    body: bytes

    @property
    def kind(self) -> int:
        """Its type."""
        return self.first >> 4

    @property
    def reason(self) -> int:
        """Of CONNACK and DISCONNECT, of a SUBACK for one filter, and of acknowledgements that have one."""
        if self.kind == SUBACK:
            return self.body[-1]
        at = {CONNACK: 1, DISCONNECT: 0}.get(self.kind, 2)
        return self.body[at] if len(self.body) > at else 0

    @property
    def session_present(self) -> bool:
        """Of CONNACK: the broker still has this client's session."""
        return bool(self.body[0] & 1)

    @property
    def qos(self) -> int:
        """Of PUBLISH."""
        return self.first >> 1 & 3

    @property
    def packet_id(self) -> int:
        """Of everything that is answered."""
        at = 2 + self._topic_bytes if self.kind == PUBLISH else 0
        return int(struct.unpack_from("!H", self.body, at)[0])

    @property
    def payload(self) -> bytes:
        """Of PUBLISH."""
        at = 2 + self._topic_bytes + (2 if self.qos else 0)
        length, used = _length(self.body, at)
        return self.body[at + used + length :]

    @property
    def _topic_bytes(self) -> int:
        return int(struct.unpack_from("!H", self.body)[0])


def take(buffer: bytearray) -> Iterator[Packet]:
    """Every whole packet, taken off the front of ``buffer``.

    Raises:
        ValueError: a length of more than four bytes.
    """
    while len(buffer) >= 2:
        length, used = _length(buffer, 1)
        end = 1 + used + length
        if not used or len(buffer) < end:
            return
        packet = Packet(buffer[0], bytes(buffer[1 + used : end]))
        del buffer[:end]
        yield packet


def connect(client_id: str, *, expiry_s: int) -> bytes:
    """A CONNECT that goes on with the session of ``client_id``, where there is one."""
    properties = bytes([_SESSION_EXPIRY]) + struct.pack("!I", expiry_s)
    head = _text("MQTT") + bytes([_VERSION, 0]) + struct.pack("!H", 0)
    return _packet(CONNECT << 4, head + _varint(len(properties)) + properties + _text(client_id))


def publish(topic: str, payload: bytes, *, qos: int, packet_id: int, dup: bool = False) -> bytes:
    """A PUBLISH of QoS 1 or 2."""
    first = PUBLISH << 4 | dup << 3 | qos << 1
    return _packet(first, _text(topic) + struct.pack("!H", packet_id) + b"\0" + payload)


def subscribe(topic_filter: str, *, qos: int, packet_id: int = 1) -> bytes:
    """A SUBSCRIBE of one filter."""
    return _packet(SUBSCRIBE << 4 | 2, struct.pack("!H", packet_id) + b"\0" + _text(topic_filter) + bytes([qos]))


def answer(kind: int, packet_id: int) -> bytes:
    """PUBACK, PUBREC, PUBREL or PUBCOMP."""
    return _packet(kind << 4 | (2 if kind == PUBREL else 0), struct.pack("!H", packet_id))


GOODBYE = bytes([DISCONNECT << 4, 0])


def _packet(first: int, body: bytes) -> bytes:
    return bytes([first]) + _varint(len(body)) + body


def _text(value: str) -> bytes:
    raw = value.encode()
    return struct.pack("!H", len(raw)) + raw


def _varint(value: int) -> bytes:
    out = bytearray()
    while True:
        value, low = divmod(value, 128)
        out.append(low | (0x80 if value else 0))
        if not value:
            return bytes(out)


def _length(data: bytes | bytearray, at: int) -> tuple[int, int]:
    """A length as MQTT writes it, and its own bytes; 0 of these: it has not come whole."""
    length = 0
    for used, byte in enumerate(data[at : at + _LENGTH_BYTES_MAX]):
        length |= (byte & 127) << 7 * used
        if byte < 128:
            return length, used + 1
    if len(data) - at >= _LENGTH_BYTES_MAX:
        raise ValueError("the broker sent a length of more than four bytes")
    return 0, 0
