"""A publisher of QoS 2 that is killed when the broker has its messages, and before it releases their packet ids."""

from __future__ import annotations

import socket
import struct
from urllib.parse import urlsplit

_TIMEOUT_S = 30.0
_PUBREC = 0x50


def leave_unreleased(url: str, client_id: str, topic: str, count: int) -> None:
    """Leaves a session in which the broker knows the packet ids 1 to ``count`` as received.

    Args:
        url: ``tcp://HOST:PORT``.
        client_id: Whose session; it stays for an hour.
        topic: What to publish to.
        count: At most 100.
    """
    at = urlsplit(url)
    with socket.create_connection((at.hostname, at.port), _TIMEOUT_S) as stream:
        expiry = b"\x11" + struct.pack("!I", 3600)
        head = _text("MQTT") + b"\x05\x02" + struct.pack("!H", 60) + bytes([len(expiry)]) + expiry
        stream.sendall(_packet(0x10, head + _text(client_id)))
        assert _read(stream)[0] == 0x20
        for packet_id in range(1, count + 1):
            stream.sendall(_packet(0x34, _text(topic) + struct.pack("!H", packet_id) + b"\x00old"))
        for packet_id in range(1, count + 1):
            kind, body = _read(stream)
            assert (kind, body[:2]) == (_PUBREC, struct.pack("!H", packet_id))


def _text(text: str) -> bytes:
    return struct.pack("!H", len(text)) + text.encode()


def _packet(first: int, body: bytes) -> bytes:
    assert len(body) < 128
    return bytes([first, len(body)]) + body


def _read(stream: socket.socket) -> tuple[int, bytes]:
    first, length = _exactly(stream, 2)
    assert length < 128
    return first, _exactly(stream, length)


def _exactly(stream: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = stream.recv(count - len(data))
        assert more, "the broker closed the connection"
        data += more
    return data
