"""Clients that the broker knows, coming in beside a flood: `python -m benches.known_clients WAY PORT SECONDS`.

One attempt after the other, ``PER_S`` a second, in turn from the flood's own address and from another one. Prints JSON
with `Attempts` of each. A known user gives the right password; over HTTP it asks for health.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import socket
import sys
import time

from benches.flooded_broker import USERS
from benches.raw_mqtt import connect, frame, trusting, upgrade

PER_S = 20
PATIENCE_S = 10.0
NAME = "alice"
ADDRESSES = {"same": "127.0.0.1", "other": "127.0.0.2"}
"""From where: the flood's address, or one of its own."""


@dataclasses.dataclass
class Attempts:
    """What became of those from one address, and how long each of them that came in took."""

    refused: int = 0
    took_ms: list[float] = dataclasses.field(default_factory=list)


def _came_in(way: str, connection: socket.socket, port: int) -> bool:
    """Whether the broker has let one in on ``connection``, which is new."""
    packet = connect(f"known-{time.monotonic_ns()}", username=NAME, password=USERS[NAME])
    if way == "http":
        connection.sendall(f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
        return connection.recv(64).startswith(b"HTTP/1.1 200")
    if way == "tls":
        connection = trusting().wrap_socket(connection)
    if way == "ws":
        connection.sendall(upgrade(port))
        if not connection.recv(1024).startswith(b"HTTP/1.1 101"):
            return False
        connection.sendall(frame(packet))
        return connection.recv(64)[2:6:3] == b"\x20\0"
    connection.sendall(packet)
    return connection.recv(64)[:4:3] == b"\x20\0"


def attempt(way: str, port: int, address: str, attempts: Attempts) -> None:
    """One client comes, and goes again."""
    began = time.perf_counter()
    with (
        contextlib.suppress(OSError),
        socket.create_connection(("127.0.0.1", port), PATIENCE_S, (address, 0)) as connection,
    ):
        if _came_in(way, connection, port):
            attempts.took_ms.append((time.perf_counter() - began) * 1e3)
            return
    attempts.refused += 1


def main(way: str, port: int, seconds: float) -> None:
    """Command line."""
    attempts = {place: Attempts() for place in ADDRESSES}
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for place, address in ADDRESSES.items():
            attempt(way, port, address, attempts[place])
            time.sleep(1 / PER_S)
    print(json.dumps({place: dataclasses.asdict(found) for place, found in attempts.items()}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
