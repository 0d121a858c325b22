"""The client's side of a WebSocket as a socket of bytes, with the frames in the test's hands where it wants them."""

from __future__ import annotations

import base64
import os
import socket
import struct
from urllib.parse import urlsplit

import wire

BINARY, TEXT, CONTINUATION, CLOSE, PING, PONG = 2, 1, 0, 8, 9, 10


def frame(opcode: int, payload: bytes, *, last: bool = True, masked: bool = True) -> bytes:
    """A client's frame."""
    first, flag = bytes([opcode | (0x80 if last else 0)]), 0x80 if masked else 0
    size = len(payload)
    if size < 126:
        head = first + bytes([flag | size])
    elif size < 1 << 16:
        head = first + bytes([flag | 126]) + struct.pack("!H", size)
    else:
        head = first + bytes([flag | 127]) + struct.pack("!Q", size)
    if not masked:
        return head + payload
    mask = os.urandom(4)
    return head + mask + bytes(byte ^ mask[n % 4] for n, byte in enumerate(payload))


def request(host: str, path: str = "/mqtt", protocol: str | None = "mqtt", **fields: str) -> bytes:
    """An upgrade request; a field given replaces the usual one, an empty one removes it."""
    usual = {
        "Host": host,
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Protocol": protocol or "",
    }
    given = {name.replace("_", "-"): value for name, value in fields.items()}
    lines = [f"{name}: {value}" for name, value in {**usual, **given}.items() if value]
    return "\r\n".join([f"GET {path} HTTP/1.1", *lines, "", ""]).encode()


class WebSocket:
    """Binary frames as the stream that they carry; `close_code` once the broker has closed."""

    def __init__(self, stream: socket.socket, host: str, path: str = "/mqtt", **fields: str) -> None:
        self.stream = stream
        self.close_code: int | None = None
        self.pongs: list[bytes] = []
        stream.sendall(request(host, path, **fields))
        self.head, self._bytes = read_head(stream)

    def sendall(self, payload: bytes) -> None:
        self.stream.sendall(frame(BINARY, payload))

    def recv(self, _size: int) -> bytes:
        """The payload of the next binary frame; nothing at the end."""
        while (found := self._frame()) is not None:
            opcode, payload = found
            if opcode == BINARY and payload:
                return payload
            if opcode == PONG:
                self.pongs.append(payload)
            elif opcode == CLOSE:
                self.close_code = struct.unpack_from("!H", payload)[0]
            else:
                assert opcode == BINARY, f"the broker sent a frame of kind {opcode}"
        return b""

    def _frame(self) -> tuple[int, bytes] | None:
        head = self._take(2)
        if head is None:
            return None
        assert head[0] & 0xF0 == 0x80, "not one whole frame without extensions"
        assert head[1] & 0x80 == 0, "a server does not mask"
        size = head[1]
        if size >= 126:
            longer = self._take(2 if size == 126 else 8)
            assert longer is not None
            size = int.from_bytes(longer)
        payload = self._take(size)
        assert payload is not None, "the end came within a frame"
        return head[0] & 0x0F, payload

    def _take(self, size: int) -> bytes | None:
        while len(self._bytes) < size:
            more = self.stream.recv(1 << 16)
            if not more:
                return None
            self._bytes += more
        taken, self._bytes = self._bytes[:size], self._bytes[size:]
        return taken

    def settimeout(self, timeout_s: float) -> None:
        self.stream.settimeout(timeout_s)

    def close(self) -> None:
        self.stream.close()


def read_head(stream: socket.socket) -> tuple[str, bytes]:
    """The head of an HTTP answer, and what came behind it; the whole answer when it is no upgrade."""
    found = b""
    while b"\r\n\r\n" not in found:
        more = stream.recv(1 << 16)
        assert more, f"the broker closed in the middle of {found!r}"
        found += more
    head, _, behind = found.partition(b"\r\n\r\n")
    return head.decode(), behind


class WebWire(wire.Wire):
    """MQTT's packets over a WebSocket."""

    socket: WebSocket  # type: ignore[assignment]

    def __init__(self, url: str, version: int = 5, **fields: str) -> None:
        parts = urlsplit(url)
        stream = socket.create_connection((str(parts.hostname), parts.port or 0), timeout=wire.TIMEOUT_S)
        self._open(WebSocket(stream, f"{parts.hostname}:{parts.port}", parts.path, **fields), version)

    def _open(self, web: WebSocket, version: int) -> None:
        self.version = version
        self.socket = web
        self._bytes = bytearray()
