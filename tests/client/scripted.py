"""A broker that says, over a real socket, exactly what a test wants, and tells what it heard."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

TIMEOUT_S = 30.0

CONNECT, PUBLISH, PUBACK, PUBREC, PUBREL, PUBCOMP, SUBSCRIBE, DISCONNECT = 1, 3, 4, 5, 6, 7, 8, 14


@dataclass
class Packet:
    """A packet as it came: its type, the flags beside it, and the rest."""

    kind: int
    flags: int
    body: bytes

    @property
    def packet_id(self) -> int:
        """Of an acknowledgement."""
        return int.from_bytes(self.body[:2], "big")

    @property
    def reason(self) -> int:
        """Of an acknowledgement."""
        return self.body[2] if len(self.body) > 2 else 0

    def says(self, text: str) -> bool:
        """Whether `text` is in it, as MQTT writes it."""
        return struct.pack("!H", len(text)) + text.encode() in self.body

    def user(self, name: str) -> str | None:
        """The value of the user property `name`."""
        key = b"\x26" + struct.pack("!H", len(name)) + name.encode()
        at = self.body.find(key)
        if at < 0:
            return None
        at += len(key)
        length = int.from_bytes(self.body[at : at + 2], "big")
        return self.body[at + 2 : at + 2 + length].decode()


@dataclass
class Connection:
    """One connection to the scripted broker, past its CONNECT."""

    stream: socket.socket
    connect: Packet = field(init=False)

    def read(self) -> Packet:
        """The next packet."""
        first = self._exactly(1)[0]
        length = shift = 0
        while True:
            byte = self._exactly(1)[0]
            length |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return Packet(first >> 4, first & 15, self._exactly(length))

    def read_until(self, kind: int) -> Packet:
        """The next packet of this type; others are passed over."""
        while (packet := self.read()).kind != kind:
            pass
        return packet

    def send(self, raw: bytes) -> None:
        """Sends it as it is."""
        self.stream.sendall(raw)

    def accept(self, *, session_present: bool = False, properties: bytes = b"") -> None:
        """CONNACK."""
        body = bytes([session_present, 0, len(properties)]) + properties
        self.send(bytes([0x20, len(body)]) + body)

    def grant(self, qos: int = 1) -> Packet:
        """Reads SUBSCRIBE, answers SUBACK."""
        packet = self.read_until(SUBSCRIBE)
        self.send(bytes([0x90, 4]) + packet.body[:2] + bytes([0, qos]))
        return packet

    def publish(self, topic: str, payload: bytes, *, qos: int = 1, packet_id: int = 1, dup: bool = False) -> None:
        """A message for the client."""
        head = struct.pack("!H", len(topic)) + topic.encode()
        body = head + (struct.pack("!H", packet_id) if qos else b"") + b"\x00" + payload
        assert len(body) < 128
        self.send(bytes([0x30 | dup << 3 | qos << 1, len(body)]) + body)

    def is_silent(self, seconds: float = 0.1) -> bool:
        """Whether nothing comes for a while."""
        self.stream.settimeout(seconds)
        try:
            return self.stream.recv(1, socket.MSG_PEEK) == b"never"
        except TimeoutError:
            return True
        finally:
            self.stream.settimeout(TIMEOUT_S)

    def _exactly(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            more = self.stream.recv(count - len(data))
            assert more, "the client closed the connection"
            data += more
        return data


class ScriptedBroker:
    """Listens; `next` is the next client, after its CONNECT."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(TIMEOUT_S)
        self.url = f"tcp://127.0.0.1:{self._listener.getsockname()[1]}"

    @contextmanager
    def next(self) -> Iterator[Connection]:
        """The next client."""
        stream, _ = self._listener.accept()
        stream.settimeout(TIMEOUT_S)
        connection = Connection(stream)
        connection.connect = connection.read()
        with stream:
            yield connection

    def close(self) -> None:
        """Listens no more."""
        self._listener.close()
