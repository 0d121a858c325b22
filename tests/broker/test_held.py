"""Connections that are not read for want of room, and readers that stop: who goes on, and when."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from wire import (
    CONNACK,
    PING,
    PUBACK,
    PUBLISH,
    SUBACK,
    TIMEOUT_S,
    Wire,
    connect,
    name_on,
    publish,
    shard_of,
    subscribe,
    unsubscribe,
    until,
)

import lapwing

SLEEP_S = 0.9
"""A sleeping shard looks around after a second anyway, so a wake-up that is lost is a wait of a second."""
LOST = 12
"""So many of that length are no accident."""


def at_work_s() -> float:
    """How long threads of this process, the broker's among them, have run or waited for a core."""
    ns = 0
    for file in Path("/proc/self/task").glob("*/schedstat"):
        with suppress(FileNotFoundError, ProcessLookupError):  # one that has just ended
            running_ns, waiting_ns, _ = file.read_text().split()
            ns += int(running_ns) + int(waiting_ns)
    return ns / 1e9


def waits(count: int, *, beside_a_flood: bool = False) -> Iterator[int]:
    """Numbers of waits, one after the other: was their wake-up lost?

    On a busy machine they take long, but then somebody here is at work, or waits for a core. Beside a flood somebody
    always is: there each long wait counts.
    """
    lost = 0
    for number in range(count):
        begun, worked_s = time.monotonic(), at_work_s()
        yield number
        waited_s = time.monotonic() - begun
        idle_s = waited_s if beside_a_flood else waited_s - (at_work_s() - worked_s)
        lost += idle_s >= SLEEP_S
        assert lost < LOST, (
            f"{lost} of {number + 1} waits took a second and more in which there was nothing to wait for"
        )


@contextmanager
def meanwhile(wire: Wire, *works: Callable[[], object]) -> Iterator[None]:
    """Repeats each of `works` in a thread of its own; ends them by closing their connection."""
    stop = threading.Event()

    def repeat(work: Callable[[], object]) -> None:
        try:
            while not stop.is_set():
                work()
        except OSError:
            pass

    for work in works:
        threading.Thread(target=repeat, args=(work,), daemon=True).start()
    try:
        yield
    finally:
        stop.set()
        wire.close()


class UnixWire(Wire):
    """Over a Unix socket: the kernel keeps a hundred kilobytes for it, for one of TCP megabytes."""

    def __init__(self, path: Path) -> None:
        self.version = 5
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(TIMEOUT_S)
        self.socket.connect(str(path))
        self._bytes = bytearray()


def test_a_full_output_buffer_is_read_on_when_it_has_emptied(tmp_path: Path) -> None:
    """One sends pings and takes nothing until it is not read any more: are all answered once it does?"""
    limits, listener = {"output_high_bytes": 1000, "output_bytes_max": 2000}, {"url": f"unix://{tmp_path}/socket"}
    pings = PING * 100_000
    with (
        lapwing.Broker(shards=1, limits=limits, listeners=[listener]) as broker,
        UnixWire(tmp_path / "socket") as wire,
        # One that has ended would be missing in `at_work_s`.
        ThreadPoolExecutor(1) as sender,
    ):
        wire.send(connect("pinger"))
        wire.expect(CONNACK)

        def held() -> float:
            return broker.metrics()["lapwing_reads_held_total"]

        for _ in waits(50):
            before, taken = held(), 0
            sent = sender.submit(wire.send, pings)
            until(lambda before=before: held() > before)
            while taken < len(pings):
                taken += len(wire.socket.recv(1 << 20))
            sent.result(TIMEOUT_S)


def test_a_group_goes_on_when_its_lane_has_room() -> None:
    """Publisher and member on one shard, the group on the other, mailboxes of one message."""
    topic = next(f"w{n}" for n in range(100) if shard_of(f"g/w{n}", 2) == 0)
    limits = {"mailbox_batches": 1, "mailbox_batch_messages": 1}
    with (
        lapwing.Broker(shards=2, limits=limits) as broker,
        Wire.client(broker.url, name_on(1, 2, "m")) as member,
        Wire.client(broker.url, name_on(1, 2, "p")) as boss,
    ):
        member.subscribe(f"$share/g/{topic}")
        for number in waits(2000):
            count = 2 + number % 4
            boss.send(publish(topic) * count)
            for _ in range(count):
                member.expect(PUBLISH)


def test_announcements_go_on_when_their_lane_has_room() -> None:
    """One SUBSCRIBE of more filters than a mailbox has places, many times: each SUBACK waits for the other shard."""
    filters = [f"f/{n}" for n in range(3)]
    with (
        lapwing.Broker(shards=2, limits={"mailbox_batches": 1}) as broker,
        Wire.client(broker.url, name_on(0, 2, "s")) as wire,
    ):
        for number in waits(2000):
            wire.send(subscribe(*(f"{name}/{number}" for name in filters)))
            wire.expect(SUBACK)


def test_a_quick_reader_on_another_shard_loses_nothing() -> None:
    """QoS 0 may be dropped for a reader that does not keep up, not because a mailbox brought much at once."""
    burst, message = 2000, publish("flow", b"x" * 100)
    with (
        lapwing.Broker(shards=2, limits={"output_high_bytes": 50_000}) as broker,
        Wire.client(broker.url, name_on(1, 2, "r")) as reader,
        Wire.client(broker.url, name_on(0, 2, "w")) as writer,
    ):
        reader.subscribe("flow")
        for _ in range(20):
            writer.send(message * burst)
            writer.round_trip()
            for _ in range(burst):
                reader.expect(PUBLISH)


@pytest.mark.parametrize("count", [200, pytest.param(500, marks=pytest.mark.nightly)])
def test_a_flood_of_subscriptions_holds_up_its_own_client_only(count: int) -> None:
    """Do others connect and subscribe while one floods both shards with subscriptions?"""
    filters = [f"{'f' * 200}/{n}" for n in range(1000)]
    flood = subscribe(*filters) + unsubscribe(*filters)
    with (
        lapwing.Broker(shards=2) as broker,
        Wire.client(broker.url, name_on(0, 2, "flood")) as wire,
        meanwhile(wire, lambda: wire.send(flood), lambda: wire.socket.recv(1 << 20)),
    ):
        until(lambda: broker.metrics()["lapwing_subscriptions"] > 0)
        for number in waits(count, beside_a_flood=True):
            with Wire.client(broker.url, name_on(number % 2, 2, f"other{number}-")) as other:
                other.subscribe(f"quiet/{number}")


STALLED = """
import os, sys, threading, time
sys.path.insert(0, {folder!r})
from wire import CONNACK, Wire, connect, publish, until
import lapwing
broker = lapwing.Broker(shards=1, limits={{"output_high_bytes": 20000, "output_stall": "200ms"}}).start()
reader, writer = Wire(broker.url, receive_buffer_bytes=4096), Wire.client(broker.url, "w")
reader.send(connect("r")); reader.expect(CONNACK); reader.subscribe("t")
def is_watched():
    writer.send(publish("t", b"x" * 500) * 30)
    return any(n > 0 for name, n in broker.metrics().items() if "output_full" in name)
until(is_watched)
reader.socket.settimeout(None)
def read():
    while True: reader.socket.recv(1 << 20)
threading.Thread(target=read, daemon=True).start()
end = time.monotonic() + 1.6
while time.monotonic() < end:
    writer.send(publish("t", b"x" * 500) * 400)
writer.round_trip()
Wire.client(broker.url, "after").round_trip()
print("alive", flush=True)
os._exit(0)
"""


def test_a_reader_that_stalled_and_went_on_does_not_stop_the_shard() -> None:
    """In a process of its own: a shard that hangs cannot be stopped."""
    code = STALLED.format(folder=str(Path(__file__).parent))
    try:
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        pytest.fail("the shard hangs")
    assert ended.stdout == "alive\n", ended.stderr


def test_a_shard_with_much_to_log_does_not_keep_others_from_it() -> None:
    """Is a modest publisher on one shard answered while the other has much to log?"""
    streams = {"s": {"filter": "s/#", "retain_bytes": 100_000_000}}
    with (
        lapwing.Broker(shards=2, streams=streams) as broker,
        Wire.client(broker.url, name_on(1, 2, "modest")) as modest,
        Wire.client(broker.url, name_on(0, 2, "hog")) as hog,
        Wire.client(broker.url, name_on(0, 2, "second")) as second,
        meanwhile(second, lambda: second.send(publish("s/hog", b"x" * 200_000) * 5)),
        meanwhile(hog, lambda: hog.send(publish("s/hog", b"x" * 200_000) * 5)),
    ):
        until(lambda: broker.metrics()["lapwing_stream_messages_total"] > 0)
        for _ in waits(50, beside_a_flood=True):
            modest.send(publish("s/modest", qos=1))
            modest.expect(PUBACK)
