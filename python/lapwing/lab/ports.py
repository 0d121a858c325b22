"""Ports of this machine for processes that have to be told theirs before they start."""

from __future__ import annotations

import socket


def free_ports(count: int) -> list[int]:
    """Ports of the loopback that were free a moment ago, none of them twice."""
    probes = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [int(probe.getsockname()[1]) for probe in probes]
    for probe in probes:
        probe.close()
    return ports
