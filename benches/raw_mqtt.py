"""MQTT as bytes, for clients that no library would write and for tests, and heads of HTTP for the same."""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct

CONNECT, CONNACK, PUBLISH, PUBACK, PUBREC, PUBREL, PUBCOMP = 1, 2, 3, 4, 5, 6, 7
SUBSCRIBE, SUBACK, UNSUBSCRIBE, UNSUBACK, PINGREQ, PINGRESP, DISCONNECT = 8, 9, 10, 11, 12, 13, 14


def varint(value: int) -> bytes:
    """A length as MQTT writes it."""
    out = bytearray()
    while True:
        value, low = divmod(value, 128)
        out.append(low | (0x80 if value else 0))
        if not value:
            return bytes(out)


def text(value: str | bytes) -> bytes:
    """A string with its length."""
    raw = value.encode() if isinstance(value, str) else value
    return struct.pack("!H", len(raw)) + raw


def packet(first: int, body: bytes) -> bytes:
    """A packet with its first byte and its length."""
    return bytes([first]) + varint(len(body)) + body


def connect(
    client_id: str,
    *,
    version: int = 5,
    clean: bool = True,
    keep_alive_s: int = 0,
    properties: bytes = b"",
    will: tuple[str, bytes, int, bool] | None = None,
    will_properties: bytes = b"",
    username: str | None = None,
    password: str | bytes | None = None,
) -> bytes:
    """A CONNECT; ``will``: topic, payload, QoS and whether it is retained."""
    flags = (2 if clean else 0) | (username is not None) << 7 | (password is not None) << 6
    payload = text(client_id)
    if will is not None:
        topic, message, qos, retain = will
        flags |= 4 | qos << 3 | retain << 5
        payload += (
            (varint(len(will_properties)) + will_properties if version == 5 else b"") + text(topic) + text(message)
        )
    payload += b"".join(text(field) for field in (username, password) if field is not None)
    head = text("MQTT") + bytes([version, flags]) + struct.pack("!H", keep_alive_s)
    return packet(0x10, head + (varint(len(properties)) + properties if version == 5 else b"") + payload)


def publish(
    topic: str,
    payload: bytes = b"",
    *,
    qos: int = 0,
    packet_id: int = 1,
    retain: bool = False,
    dup: bool = False,
    properties: bytes = b"",
    version: int = 5,
) -> bytes:
    """A PUBLISH; ``packet_id`` is left out of one at QoS 0."""
    body = text(topic) + (struct.pack("!H", packet_id) if qos else b"")
    body += varint(len(properties)) + properties if version == 5 else b""
    return packet(0x30 | dup << 3 | qos << 1 | retain, body + payload)


def subscribe(*filters: str | tuple[str, int], packet_id: int = 1, properties: bytes = b"", version: int = 5) -> bytes:
    """A filter alone asks for QoS 0; the number beside one is its options byte."""
    body = struct.pack("!H", packet_id) + (varint(len(properties)) + properties if version == 5 else b"")
    for item in filters:
        name, options = (item, 0) if isinstance(item, str) else item
        body += text(name) + bytes([options])
    return packet(0x82, body)


def unsubscribe(*filters: str, packet_id: int = 1, version: int = 5) -> bytes:
    """An UNSUBSCRIBE."""
    body = struct.pack("!H", packet_id) + (b"\0" if version == 5 else b"")
    return packet(0xA2, body + b"".join(text(name) for name in filters))


def ack(kind: int, packet_id: int) -> bytes:
    """PUBACK, PUBREC, PUBREL or PUBCOMP, without a reason code."""
    return packet(kind << 4 | (2 if kind == PUBREL else 0), struct.pack("!H", packet_id))


DISCONNECT_NORMAL = packet(0xE0, b"")
PING = packet(0xC0, b"")


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
