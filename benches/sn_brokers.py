"""Brokers for the MQTT-SN benchmark: Lapwing with a listener of UDP beside that of TCP."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from dataclasses import replace

from benches.brokers import RunningBroker, lapwing


def free_udp_port() -> int:
    """A port of loopback that no UDP socket has now."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def lapwing_sn(cpus: set[int]) -> Iterator[RunningBroker]:
    """`lapwing broker` with one shard; `url` is that of its listener for MQTT-SN, which has one socket."""
    url = f"sn://127.0.0.1:{free_udp_port()}"
    with lapwing(cpus, arguments=("--listen", url)) as broker:
        yield replace(broker, name="lapwing, MQTT-SN", url=url)
