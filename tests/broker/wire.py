"""MQTT as raw bytes over a socket: what a client library would hide is what these tests look at."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

# Tests say `wire.connect` for those that this file has no use for, too.
from benches.raw_mqtt import (  # noqa: F401
    CONNACK,
    CONNECT,
    DISCONNECT,
    DISCONNECT_NORMAL,
    PING,
    PINGREQ,
    PINGRESP,
    PUBACK,
    PUBCOMP,
    PUBLISH,
    PUBREC,
    PUBREL,
    SUBACK,
    SUBSCRIBE,
    UNSUBACK,
    UNSUBSCRIBE,
    ack,
    connect,
    packet,
    publish,
    subscribe,
    text,
    unsubscribe,
    varint,
)

TIMEOUT_S = 30.0


@dataclass(frozen=True)
class Packet:
    """A packet from the broker: its first byte and what follows the length."""

    first: int
    body: bytes
    version: int

    @property
    def kind(self) -> int:
        return self.first >> 4

    @property
    def qos(self) -> int:
        return self.first >> 1 & 3

    @property
    def retain(self) -> bool:
        return bool(self.first & 1)

    @property
    def topic(self) -> str:
        return self.body[2 : 2 + self._topic_len].decode()

    @property
    def packet_id(self) -> int:
        at = 2 + self._topic_len if self.kind == PUBLISH else 0
        return int(struct.unpack_from("!H", self.body, at)[0])

    @property
    def payload(self) -> bytes:
        at = 2 + self._topic_len + (2 if self.qos else 0)
        if self.version == 5:
            length, shift = 0, 0
            while True:
                byte = self.body[at]
                length |= (byte & 127) << shift
                at, shift = at + 1, shift + 7
                if byte < 128:
                    break
            at += length
        return self.body[at:]

    @property
    def reason(self) -> int:
        """Of CONNACK and DISCONNECT, and of acknowledgements that have one."""
        at = {CONNACK: 1, DISCONNECT: 0}.get(self.kind, 2)
        return self.body[at] if len(self.body) > at else 0

    @property
    def _topic_len(self) -> int:
        return int(struct.unpack_from("!H", self.body)[0])


class Wire:
    """A connection that sends and receives packets; `None` stands for the end of the stream."""

    def __init__(
        self, url: str, version: int = 5, receive_buffer_bytes: int | None = None, source: str | None = None
    ) -> None:
        parts = urlsplit(url)
        assert parts.hostname
        assert parts.port
        self.version = version
        self.socket = socket.socket()
        if receive_buffer_bytes is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer_bytes)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.settimeout(TIMEOUT_S)
        if source is not None:
            self.socket.bind((source, 0))
        self.socket.connect((parts.hostname, parts.port))
        self._bytes = bytearray()

    @classmethod
    def client(cls, url: str, client_id: str, *, version: int = 5, clean: bool = True, properties: bytes = b"") -> Self:
        """Connected, with its CONNACK checked."""
        wire = cls(url, version)
        wire.send(connect(client_id, version=version, clean=clean, properties=properties))
        assert wire.expect(CONNACK).reason == 0
        return wire

    def send(self, *packets: bytes) -> None:
        self.socket.sendall(b"".join(packets))

    def receive(self, timeout_s: float = TIMEOUT_S) -> Packet | None:
        """The next packet, `None` at the end; `TimeoutError` when nothing comes."""
        deadline = time.monotonic() + timeout_s
        while (found := self._take()) is None:
            left_s = deadline - time.monotonic()
            if left_s <= 0:
                raise TimeoutError
            self.socket.settimeout(left_s)
            more = self.socket.recv(1 << 18)
            if not more:
                return None
            self._bytes += more
        return found

    def expect(self, kind: int, timeout_s: float = TIMEOUT_S) -> Packet:
        found = self.receive(timeout_s)
        assert found is not None, "the broker closed the connection"
        assert found.kind == kind, f"{found} instead of a packet of type {kind}"
        return found

    def expect_end(self, timeout_s: float = TIMEOUT_S) -> None:
        assert self.receive(timeout_s) is None

    def subscribe(self, *filters: str | tuple[str, int]) -> None:
        """Subscribes and awaits the SUBACK; to be used where no message can come first."""
        self.send(subscribe(*filters, version=self.version))
        self.expect(SUBACK)

    def round_trip(self) -> list[Packet]:
        """Everything that comes before the answer to a PINGREQ sent now."""
        self.send(PING)
        before: list[Packet] = []
        while (found := self.receive()) is not None and found.kind != PINGRESP:
            before.append(found)
        return before

    def _take(self) -> Packet | None:
        data, length, shift = self._bytes, 0, 0
        for at in range(1, 5):
            if at >= len(data):
                return None
            length |= (data[at] & 127) << shift
            shift += 7
            if data[at] < 128:
                break
        else:
            raise AssertionError("the broker sent a length of more than four bytes")
        end = at + 1 + length
        if len(data) < end:
            return None
        found = Packet(data[0], bytes(data[at + 1 : end]), self.version)
        del data[:end]
        return found

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def shard_of(name: str, shards: int) -> int:
    """Where the broker keeps a client or a retained topic; see `crates/node/src/slot.rs`."""
    word = 2**64 - 1
    value = 0xCBF2_9CE4_8422_2325
    for byte in name.encode():
        value = (value ^ byte) * 0x0000_0100_0000_01B3 & word
    value = (value ^ value >> 30) * 0xBF58_476D_1CE4_E5B9 & word
    value = (value ^ value >> 27) * 0x94D0_49BB_1331_11EB & word
    return ((value ^ value >> 31) % 4096 % 16) % shards


def name_on(shard: int, shards: int, prefix: str) -> str:
    """A name beginning with `prefix` that lives on this shard."""
    return next(name for n in range(10_000) if shard_of(name := f"{prefix}{n}", shards) == shard)


def until(condition: Callable[[], bool], timeout_s: float = TIMEOUT_S) -> None:
    """Looks until `condition` holds."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "the condition did not become true in time"
        time.sleep(0.005)
