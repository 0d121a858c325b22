"""MQTT as bytes, for clients that no library would write, and heads of HTTP for the same."""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
from collections.abc import Iterable


def varint(value: int) -> bytes:
    """A length as MQTT writes it."""
    out = bytearray()
    while True:
        value, low = divmod(value, 128)
        out.append(low | (0x80 if value else 0))
        if not value:
            return bytes(out)


def packet(first: int, body: bytes) -> bytes:
    """A packet with its first byte and its length."""
    return bytes([first]) + varint(len(body)) + body


def text(value: str | bytes) -> bytes:
    """A string with its length."""
    data = value.encode() if isinstance(value, str) else value
    return struct.pack("!H", len(data)) + data


def connect(client_id: str, username: str = "", password: str = "", will: bytes = b"") -> bytes:
    """A CONNECT of 5.0 with clean start and no keep alive; ``will`` is the payload of one."""
    flags = 0x02 | (0x04 if will else 0) | (0xC0 if username else 0)
    body = text("MQTT") + bytes([5, flags]) + b"\0\0\0" + text(client_id)
    if will:
        body += b"\0" + text("will") + text(will)
    if username:
        body += text(username) + text(password)
    return packet(0x10, body)


def subscribe(filters: Iterable[str]) -> bytes:
    """A SUBSCRIBE of 5.0 at QoS 0."""
    return packet(0x82, b"\0\1\0" + b"".join(text(name) + b"\0" for name in filters))


def hello() -> bytes:
    """A ClientHello as OpenSSL sends it."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        trusting().wrap_bio(incoming, outgoing).do_handshake()
    return outgoing.read()


def trusting() -> ssl.SSLContext:
    """TLS that believes any certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def upgrade(port: int) -> bytes:
    """The head of HTTP that a WebSocket begins with."""
    return (
        f"GET /mqtt HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Protocol: mqtt\r\n\r\n"
    ).encode()


def frame(data: bytes) -> bytes:
    """One binary message of at most 125 bytes in a WebSocket, masked with nothing."""
    return bytes([0x82, 0x80 | len(data)]) + b"\0\0\0\0" + data


def opened(port: int, *packets: bytes) -> socket.socket:
    """A connection on which ``packets`` have been sent."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=5)
    connection.sendall(b"".join(packets))
    return connection
