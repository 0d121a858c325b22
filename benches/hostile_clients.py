"""Hostile clients for `hostile_bench`, each a process of its own: `python -m benches.hostile_clients KIND URL`.

They keep at it until they are killed: a connection that the broker closes is opened again. Raw bytes, because no
client library would send these.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

PAUSE_S = 0.01
"""Between two rounds: they are to be a nuisance to the broker, not to the load generator on the same core."""


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


def text(value: str) -> bytes:
    """A string with its length."""
    return struct.pack("!H", len(value.encode())) + value.encode()


def connect(client_id: str) -> bytes:
    """A CONNECT of 5.0 with clean start and no keep alive."""
    return packet(0x10, b"\0\4MQTT\5\2\0\0\0" + text(client_id))


def subscribe(filters: Iterable[str]) -> bytes:
    """A SUBSCRIBE of 5.0 at QoS 0."""
    return packet(0x82, b"\0\1\0" + b"".join(text(name) + b"\0" for name in filters))


def opened(url: str, *packets: bytes) -> socket.socket:
    """A connection on which `packets` have been sent."""
    parts = urlsplit(url)
    connection = socket.create_connection((parts.hostname or "", parts.port or 0), timeout=5)
    connection.sendall(b"".join(packets))
    return connection


def slow_reader(url: str) -> None:
    """Wants everything and reads nothing."""
    with opened(url, connect("deaf"), subscribe(["#"])) as connection:
        while connection.fileno() >= 0:
            time.sleep(1)
            connection.sendall(b"\xc0\0")


def half_open(url: str) -> None:
    """Two hundred connections a round that never finish their CONNECT."""
    held = [opened(url, connect("x" * 100)[:30]) for _ in range(200)]
    time.sleep(0.2)
    for connection in held:
        connection.close()


def announce(url: str) -> None:
    """Announces 256 MiB and sends a little."""
    with opened(url, connect("huge"), b"\x30\xff\xff\xff\x7f" + b"x" * 1000) as connection:
        connection.recv(1 << 16)


FLOOD = [subscribe(f"flood/{batch}/{n}" for n in range(1000)) for batch in range(100)]


def subscriptions(url: str) -> None:
    """A hundred thousand subscriptions, then its connection and session end."""
    with opened(url, connect("greedy")) as connection:
        connection.setblocking(False)
        for part in FLOOD:
            left = memoryview(part)
            while left:
                with contextlib.suppress(BlockingIOError):
                    left = left[connection.send(left) :]
                with contextlib.suppress(BlockingIOError):
                    if not connection.recv(1 << 16):
                        return
                time.sleep(0.001)


DEEP = packet(0x30, text("/".join(["a"] * 32_000) + "a" * 1_536) + b"\0x")


def deep_topic(url: str) -> None:
    """A topic of 65,535 bytes in 32,000 levels."""
    with opened(url, connect("deep"), DEEP) as connection:
        connection.recv(1 << 16)


KINDS: dict[str, Callable[[str], None]] = {
    "slow reader": slow_reader,
    "half-open CONNECTs": half_open,
    "256 MiB announced": announce,
    "100,000 subscriptions": subscriptions,
    "32,000 levels": deep_topic,
}


def main() -> None:
    """Command line."""
    kind, url = sys.argv[1:]
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    for _ in itertools.count():
        with contextlib.suppress(OSError):
            KINDS[kind](url)
        time.sleep(PAUSE_S)


if __name__ == "__main__":
    main()
