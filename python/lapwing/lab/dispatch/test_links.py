"""What the links do to a way: they hold back as long as they say, in order, and the kernel sees it where it can."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from lapwing.lab.dispatch import tun
from lapwing.lab.dispatch.day import Steps
from lapwing.lab.dispatch.delay import Delays
from lapwing.lab.dispatch.links import open_links
from lapwing.lab.dispatch.processes import Process
from lapwing.lab.dispatch.proxy import Order as ProxyOrder

NEAR_MS, FAR_MS = 2.0, 40.0
TRIPS = [([0.0], [NEAR_MS]), ([0.0], [FAR_MS])]
LATE_MS = 60.0
"""A busy machine may be so late; a link that held back twice would be seen."""


def test_pieces_leave_after_their_way_and_never_overtake() -> None:
    delays: Delays[int] = Delays([Steps([0.0], [20.0])], seed=1)
    began = time.monotonic()
    for number in range(50):
        delays.push(0, False, number)
    left: list[int] = []
    while len(left) < 50:
        time.sleep(delays.wait_s() or 0.0)
        left += delays.due()
    assert left == list(range(50))
    assert time.monotonic() - began >= 0.010
    assert json.loads(delays.report_json())["pieces"] == 50
    assert delays.wait_s() is None


def test_a_link_changes_when_its_day_says_so() -> None:
    delays: Delays[str] = Delays([Steps([0.0, 1000.0], [0.0, 1e6])], seed=1)
    delays.start(time.monotonic_ns() - 2_000_000_000)  # the day is two seconds old
    delays.push(0, False, "late")
    assert (delays.wait_s() or 0.0) > 100


def _round_trip_ms(address: tuple[str, int], source: str) -> float:
    """The fastest of some echoes."""
    with socket.create_connection(address, timeout=10, source_address=(source, 0) if source else None) as stream:
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        times = []
        for _ in range(10):
            began = time.monotonic()
            stream.sendall(b"x")
            assert stream.recv(1) == b"x"
            times.append((time.monotonic() - began) * 1e3)
    return min(times)


def test_the_proxy_holds_back_both_ways_and_says_who_comes() -> None:
    server = socket.create_server(("127.0.0.1", 0))
    order = ProxyOrder(("127.0.0.1", server.getsockname()[1]), _free_pair(), True, TRIPS, 1)
    heads = []

    def echo() -> None:
        for _ in TRIPS:
            stream, _address = server.accept()
            reader = stream.makefile("rb")
            heads.append(reader.readline())
            while byte := reader.read(1):
                stream.sendall(byte)

    import threading

    threading.Thread(target=echo, daemon=True).start()
    with Process("dispatch.proxy", order) as proxy:
        proxy.wait_until_ready()
        times = [_round_trip_ms(("127.0.0.1", order.first_port + link), "") for link in range(2)]
        assert proxy.end()["pieces"] >= 40
    server.close()
    assert NEAR_MS <= times[0] < NEAR_MS + LATE_MS
    assert FAR_MS <= times[1] < FAR_MS + LATE_MS
    assert heads[0].startswith(b"PROXY TCP4 10.78.1.0 127.0.0.1 ")


def _free_pair() -> int:
    """The first of two free ports in a row."""
    while True:
        with socket.create_server(("127.0.0.1", 0)) as first:
            port = int(first.getsockname()[1])
            try:
                socket.create_server(("127.0.0.1", port + 1)).close()
            except OSError:
                continue
            return port


_IN_NAMESPACE = """
import json, socket, struct, sys, threading, time
from lapwing.lab.dispatch import tun
from lapwing.lab.dispatch.processes import Process
from lapwing.lab.dispatch.tun_link import Order
from lapwing.lab.dispatch.test_links import TRIPS, _round_trip_ms
tun.enter_namespace()
device = tun.open_device()
server = socket.create_server((tun.HOST, 1883))
kernel_us = []
def serve():
    for _ in TRIPS:
        stream, _ = server.accept()
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while byte := stream.recv(1):
            time.sleep(0.02)
            stream.sendall(byte)
        kernel_us.append(struct.unpack_from("I", stream.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256), 148)[0])
server_thread = threading.Thread(target=serve, daemon=True)
server_thread.start()
with Process("dispatch.tun_link", Order(device, TRIPS, 1), [device]) as link:
    link.wait_until_ready()
    times = [_round_trip_ms((tun.near(number), 1883), tun.HOST) for number in range(2)]
    server_thread.join(10)
    link.end()
print(json.dumps({"times": times, "kernel_us": kernel_us}))
"""


@pytest.mark.skipif(not tun.is_available(), reason="the kernel allows no tun device here")
def test_the_kernel_of_the_broker_sees_the_distance_and_not_the_work() -> None:
    """A handler of 20 ms behind links of 2 and 40 ms: the kernel's least round trip is the link's."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", _IN_NAMESPACE]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment, check=False)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["times"][0] >= 20 + NEAR_MS
    assert found["times"][1] >= 20 + FAR_MS
    near_us, far_us = found["kernel_us"]
    assert NEAR_MS * 1e3 <= near_us < 15e3
    assert FAR_MS * 1e3 <= far_us < FAR_MS * 1e3 + 15e3


@pytest.mark.skipif(not tun.is_available(), reason="the kernel allows no tun device here")
@pytest.mark.skipif(os.getuid() != 0, reason="only root can leave such a network")
def test_whoever_opened_the_links_is_in_the_network_of_before_afterwards() -> None:
    """Also where what was done with them failed; and is the device there meanwhile only?"""
    here = Path("/proc/thread-self/ns/net")
    before, told = here.readlink(), list[str]()
    with suppress(ZeroDivisionError), open_links("tun", told.append) as links:
        assert here.readlink() != before
        socket.create_server((tun.HOST, 0)).close()
        print(1 / 0)
    assert here.readlink() == before
    assert links.device is not None
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(links.device)
    assert told == []


def test_no_address_changes_a_checksum() -> None:
    def words(address: str) -> int:
        packed = socket.inet_aton(address)
        total = int.from_bytes(packed[:2]) + int.from_bytes(packed[2:])
        return total % 0xFFFF

    for number in range(tun.LINKS_MAX):
        assert words(tun.near(number)) == words(tun.far(number))


def test_the_machine_has_no_device_of_ours_afterwards() -> None:
    tun.is_available()
    assert not [path for path in Path("/sys/class/net").iterdir() if path.name.startswith("lab")]
