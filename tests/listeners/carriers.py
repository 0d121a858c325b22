"""Ways to reach a broker: packets over TLS, over a Unix socket, behind the header of a proxy."""

from __future__ import annotations

import socket
import ssl
from urllib.parse import urlsplit

import wire
from web_socket import WebSocket, WebWire


def tcp(url: str) -> socket.socket:
    """Connected, with nothing said."""
    parts = urlsplit(url)
    return socket.create_connection((str(parts.hostname), parts.port or 0), timeout=wire.TIMEOUT_S)


def tls(url: str, context: ssl.SSLContext) -> ssl.SSLSocket:
    """Connected, with the handshake done."""
    return context.wrap_socket(tcp(url), server_hostname="localhost")


class StreamWire(wire.Wire):
    """Packets over any stream that is connected already."""

    def __init__(self, stream: socket.socket, version: int = 5) -> None:
        self.version = version
        self.socket = stream
        self._bytes = bytearray()


class SecureWebWire(WebWire):
    """Packets over a WebSocket over TLS."""

    def __init__(self, url: str, context: ssl.SSLContext, version: int = 5, **fields: str) -> None:
        parts = urlsplit(url)
        self._open(WebSocket(tls(url, context), f"localhost:{parts.port}", parts.path, **fields), version)


def unix(path: str) -> socket.socket:
    """Connected to a Unix socket."""
    stream = socket.socket(socket.AF_UNIX)
    stream.settimeout(wire.TIMEOUT_S)
    stream.connect(path)
    return stream


def greet(client: wire.Wire, client_id: str) -> wire.Packet:
    """Sends a CONNECT; the CONNACK."""
    client.send(wire.connect(client_id, version=client.version))
    return client.expect(wire.CONNACK)


def echo(client: wire.Wire, topic: str, payload: bytes) -> None:
    """Sends a message to itself and looks that it comes back."""
    client.subscribe(topic)
    client.send(wire.publish(topic, payload, version=client.version))
    assert client.expect(wire.PUBLISH).payload == payload
