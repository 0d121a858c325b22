"""Hostile clients for `floods_bench`, each a process of its own: `python -m benches.flood_clients KIND DOORS`.

``DOORS`` are the broker's ports as JSON (`flooded_broker.Doors`). They keep at it until SIGTERM, as fast as one core
goes: a connection that the broker closes is followed by the next one. Before that they print `ready`, then how many
connections they began.
They give way a little to the load generator on their core. Raw bytes, because no client library would send these.
"""

from __future__ import annotations

import collections
import contextlib
import itertools
import json
import os
import resource
import selectors
import signal
import socket
import sys
import time
from collections.abc import Callable
from typing import NoReturn

from benches.flooded_broker import KEYS, Doors
from benches.raw_mqtt import connect, frame, hello, opened, packet, subscribe, text, upgrade

HELD = 6_000
"""Connections that one of those holds who hold some: more than the broker lets one address have."""
GUESSING = 300
HELLOS = 200
NICENESS = 10
PAUSE_S = 0.01
"""Between two rounds of those who are slow by nature."""

begun = itertools.count()


def hold(port: int, first: bytes, at_most: int = HELD) -> NoReturn:
    """Opens one connection after the other, sends ``first`` and nothing more; of these ``at_most`` stay open."""
    held: collections.deque[socket.socket] = collections.deque()
    while True:
        next(begun)
        connection = socket.socket()
        held.append(connection)
        with contextlib.suppress(OSError):
            connection.settimeout(1)
            connection.connect(("127.0.0.1", port))
            connection.setblocking(False)
            if first:
                connection.send(first)
        if len(held) > at_most:
            held.popleft().close()


def guess(port: int) -> NoReturn:
    """Wrong passwords of a known name, on many connections at once; who is answered or closed tries again."""
    selector = selectors.DefaultSelector()

    def attempt() -> None:
        number = next(begun)
        with contextlib.suppress(OSError):
            connection = opened(port, connect(f"guess-{number}", username="bob", password=f"wrong-{number}"))
            selector.register(connection, selectors.EVENT_READ)

    for _ in range(GUESSING):
        attempt()
    while True:
        for key, _ in selector.select(1):
            connection = key.fileobj
            assert isinstance(connection, socket.socket)
            selector.unregister(connection)
            connection.close()
            attempt()


def compute() -> NoReturn:
    """No client at all."""
    while True:
        pass


def slow_reader(port: int) -> None:
    """Wants everything and reads nothing."""
    with opened(port, connect("deaf"), subscribe("#")) as connection:
        while connection.fileno() >= 0:
            time.sleep(1)
            connection.sendall(b"\xc0\0")


def announce(port: int) -> None:
    """Announces 256 MiB and sends a little."""
    with opened(port, connect("huge"), b"\x30\xff\xff\xff\x7f" + b"x" * 1000) as connection:
        connection.recv(1 << 16)


def subscriptions(port: int) -> None:
    """A hundred thousand subscriptions, then its connection and session end."""
    with opened(port, connect("greedy")) as connection:
        connection.setblocking(False)
        for batch in range(100):
            left = memoryview(subscribe(*(f"flood/{batch}/{n}" for n in range(1000))))
            while left:
                with contextlib.suppress(BlockingIOError):
                    left = left[connection.send(left) :]
                with contextlib.suppress(BlockingIOError):
                    if not connection.recv(1 << 16):
                        return
                time.sleep(0.001)


DEEP = packet(0x30, text("/".join(["a"] * 32_000) + "a" * 1_536) + b"\0x")


def deep_topic(port: int) -> None:
    """A topic of 65,535 bytes in 32,000 levels."""
    with opened(port, connect("deep"), DEEP) as connection:
        connection.recv(1 << 16)


def again(client: Callable[[int], None], port: int) -> NoReturn:
    """One that is slow by nature, again and again."""
    while True:
        next(begun)
        with contextlib.suppress(OSError):
            client(port)
        time.sleep(PAUSE_S)


PART_OF_CONNECT = connect("stranger", will=("will", b"x" * 60_000, 0, False))[:-1]
PART_OF_HELLO = b"\x16\x03\x01\x40\x00\x01\x00\x7f\xf0\x03\x03" + b"\0" * 16_378
HALF_HEAD = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"x" * 4_000

STRANGERS: dict[str, Callable[[Doors], NoReturn]] = {
    "nothing, a socket that stays": lambda doors: hold(doors.tcp, b""),
    "60 KB of a CONNECT": lambda doors: hold(doors.tcp, PART_OF_CONNECT),
    "a PUBLISH before CONNECT": lambda doors: hold(doors.tcp, b"\x30\xf0\xff\x3f" + b"x" * 1000),
}
GUESSES: dict[str, Callable[[Doors], NoReturn]] = {"wrong passwords": lambda doors: guess(doors.tcp)}
HELLO: dict[str, Callable[[Doors], NoReturn]] = {
    f"ClientHellos, {kind}": lambda doors, kind=kind: hold(doors.tls[kind], hello(), HELLOS)  # type: ignore[misc]
    for kind in KEYS
}
HALVES: dict[str, Callable[[Doors], NoReturn]] = {
    "16 KiB of a ClientHello": lambda doors: hold(doors.tls["ECDSA P-256"], PART_OF_HELLO),
    "half a head to WebSocket": lambda doors: hold(doors.ws, HALF_HEAD),
    "half a head to HTTP": lambda doors: hold(doors.http, HALF_HEAD),
    "WebSocket, then nothing": lambda doors: hold(doors.ws, upgrade(doors.ws) + frame(connect("x" * 50)[:9])),
}
CLIENTS: dict[str, Callable[[Doors], NoReturn]] = {
    "client: slow reader": lambda doors: again(slow_reader, doors.tcp),
    "client: 256 MiB announced": lambda doors: again(announce, doors.tcp),
    "client: 100,000 subscriptions": lambda doors: again(subscriptions, doors.tcp),
    "client: 32,000 levels": lambda doors: again(deep_topic, doors.tcp),
}
COMPUTES = "(computes)"
KINDS = {**STRANGERS, **GUESSES, **HELLO, **HALVES, **CLIENTS}


def main() -> None:
    """Command line."""
    kind, doors = sys.argv[1:]
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    print("ready", flush=True)
    os.nice(NICENESS)
    try:
        if kind == COMPUTES:
            compute()
        KINDS[kind](Doors(**json.loads(doors)))
    finally:
        print(next(begun), flush=True)


if __name__ == "__main__":
    main()
