"""Clients of MQTT-SN that are connected and say nothing: what each costs the broker, and the kernel for it."""

from __future__ import annotations

import contextlib
import resource
import socket
import struct
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from benches.brokers import RunningBroker
from benches.resident import resident_bytes
from benches.sn_brokers import lapwing_sn
from benches.sn_sizes import Sizes
from benches.table import print_table, verdict

BOTH = {0, 1}
BYTES_MAX = 1024
_TRIES, _PATIENCE_S = 10, 2.0
_CONNECT, _CONNACK, _SUBSCRIBE, _SUBACK = 0x04, 0x05, 0x12, 0x13


def measure(sizes: Sizes) -> None:
    """Prints the table and whether the figure is reached."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    # What the first ones bring (tables, allocator) is not theirs.
    first = max(sizes.idle // 10, 1)
    with lapwing_sn(BOTH) as broker, contextlib.ExitStack() as held:
        _fill(broker, range(first), held)
        before = _figures(broker.pid)
        _fill(broker, range(first, first + sizes.idle), held)
        each = [(after - was) / sizes.idle for after, was in zip(_figures(broker.pid), before, strict=True)]
    print_table(
        f"{sizes.idle:,} idle clients of MQTT-SN, each with a session and one subscription; the kernel's figure is of "
        "all that runs",
        ("what", "each"),
        [
            ("resident bytes of the broker", each[0]),
            ("its descriptors", each[1]),
            ("bytes of the kernel's slabs, clients' own sockets included", each[2]),
        ],
    )
    verdict("resident bytes per idle client", each[0], BYTES_MAX, at_most=True)


def _figures(pid: int) -> tuple[int, int, int]:
    """Resident bytes and descriptors of a process, and the kernel's own memory."""
    slab_kib = next(
        int(line.split()[1]) for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("Slab:")
    )
    return resident_bytes(pid), len(list(Path(f"/proc/{pid}/fd").iterdir())), slab_kib * 1024


def _fill(broker: RunningBroker, numbers: range, held: contextlib.ExitStack) -> None:
    for client in _clients(broker, numbers):
        held.callback(client.close)


def _clients(broker: RunningBroker, numbers: range) -> Iterator[socket.socket]:
    place = urlsplit(broker.url)
    for number in numbers:
        client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        client.settimeout(_PATIENCE_S)
        client.connect((str(place.hostname), int(place.port or 0)))
        name = f"idle-{number:06}".encode()
        _ask(client, bytes([_CONNECT, 0x04, 0x01]) + struct.pack(">H", 3600) + name, _CONNACK)
        _ask(client, bytes([_SUBSCRIBE, 0x20, 0, 1]) + b"spectrum/" + name + b"/commands", _SUBACK)
        yield client


def _ask(client: socket.socket, body: bytes, answer: int) -> None:
    """Sends a message until its answer is there; the return code is the answer's last byte.

    Raises:
        RuntimeError: The broker refuses it, or does not answer.
    """
    for _ in range(_TRIES):
        client.send(bytes([len(body) + 1]) + body)
        with contextlib.suppress(TimeoutError):
            heard = client.recv(256)
            if heard[1] != answer or heard[-1] != 0:
                raise RuntimeError(f"the broker answered {heard.hex()} in place of a good {answer:#04x}")
            return
    raise RuntimeError(f"the broker has not answered {body.hex()} in {_TRIES * _PATIENCE_S:g} s")
