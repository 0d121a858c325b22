"""Very many kept sessions, each with a subscription of its own, whose clients are all away."""

from __future__ import annotations

import socket
import struct
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from benches.sleeper import connect_packet
from lapwing.client import Publisher

AT_ONCE = 32
_HOSTS = 200
_SUBACK, _DISCONNECT = 0x90, b"\xe0\x00"


def crowd(url: str, sleepers: int) -> None:
    """Leaves the sessions ``s0`` to ``s{sleepers - 1}`` behind, subscribed to ``crowd/NUMBER`` at QoS 1.

    Raises:
        RuntimeError: The broker has not taken one of them.
    """
    place = urlsplit(url)
    address = (str(place.hostname), int(place.port or 0))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for _ in pool.map(
            lambda first: _some(address, range(first, min(first + 1000, sleepers))), range(0, sleepers, 1000)
        ):
            pass


def fill_crowd(url: str, sleepers: int) -> None:
    """Gives each of them one message that waits."""
    with Publisher(url, client_id="crowd-publisher", timeout_s=120) as publisher:
        for number in range(sleepers):
            publisher.publish(f"crowd/{number}", b"x" * 100, qos=1)
        publisher.flush(timeout_s=600)


def _some(address: tuple[str, int], numbers: range) -> None:
    for number in numbers:
        # Addresses of their own, or ports would run out: an ended connection holds its own for a minute.
        source = (f"127.0.{1 + number % _HOSTS}.1", 0)
        with socket.create_connection(address, timeout=60, source_address=source) as link:
            link.sendall(connect_packet(f"s{number}") + _subscribe(f"crowd/{number}"))
            held = b""
            while len(held) < 2 or len(held) <= 2 + held[1] + 1:
                more = link.recv(1 << 12)
                if not more:
                    raise RuntimeError(f"the broker closed the connection of s{number}: {held!r}")
                held += more
            if held[2 + held[1]] != _SUBACK:
                raise RuntimeError(f"s{number} got {held!r} in place of CONNACK and SUBACK")
            link.sendall(_DISCONNECT)


def _subscribe(topic_filter: str) -> bytes:
    name = topic_filter.encode()
    body = b"\x00\x01\x00" + struct.pack(">H", len(name)) + name + b"\x01"
    return bytes([0x82, len(body)]) + body
