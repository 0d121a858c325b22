"""Ports of this machine for processes that have to be told theirs before they start."""

from __future__ import annotations

import random
import socket
from contextlib import ExitStack
from pathlib import Path

from lapwing.errors import LapwingError

_LOWEST = 22_000
_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")


def free_ports(count: int) -> list[int]:
    """Ports of the loopback that were free a moment ago, none of them twice.

    They lie below those that the kernel gives to whoever names none: so nobody takes one by chance before its server
    listens, nor between the death of that server and its next start.

    Raises:
        LapwingError: So many are not free.
    """
    found: list[int] = []
    with ExitStack() as probes:
        for port in random.SystemRandom().sample(_candidates(), len(_candidates())):
            try:
                probes.enter_context(socket.create_server(("127.0.0.1", port)))
            except OSError:
                continue  # somebody has it
            found.append(port)
            if len(found) == count:
                return found
    raise LapwingError(f"{count} ports are not free", where="127.0.0.1", remedy="end what listens there")


def free_port() -> int:
    """One of `free_ports`."""
    return free_ports(1)[0]


def _candidates() -> range:
    """Below the kernel's range; all that need no privilege, where that leaves few."""
    kernels = int(_RANGE.read_text().split()[0]) if _RANGE.exists() else 32_768
    return range(_LOWEST, kernels) if kernels >= _LOWEST + 1_000 else range(1_024, 65_536)
