"""Connections that are not read for want of room, and readers that stop: who goes on, and when."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from wire import PING, PUBACK, PUBLISH, SUBACK, Wire, name_on, publish, shard_of, subscribe, unsubscribe, until

import lapwing

PROMPT_S = 0.7
"""Well below the second after which a sleeping shard looks around anyway: a longer wait is a wake-up that was lost."""
TRIES = 3


def is_prompt(slowest_s: Callable[[], float]) -> bool:
    """Whether the slowest of many waits is short: what is lost is lost each time, and a machine busy now and then."""
    return any(slowest_s() < PROMPT_S for _ in range(TRIES))


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


def slowest_read_s() -> float:
    """Of one who sends pings without end, and takes what comes."""
    limits = {"output_high_bytes": 1000, "output_bytes_max": 2000}
    pings, taken = 4_000_000, 0
    with lapwing.Broker(shards=1, limits=limits) as broker, Wire.client(broker.url, "pinger") as wire:
        threading.Thread(target=lambda: wire.send(PING * pings), daemon=True).start()
        until(lambda: broker.metrics()["lapwing_reads_held_total"] > 0)
        slowest = 0.0
        while taken < len(PING) * pings:
            begun = time.monotonic()
            taken += len(wire.socket.recv(1 << 20))
            slowest = max(slowest, time.monotonic() - begun)
    return slowest


def test_a_full_output_buffer_is_read_on_when_it_has_emptied() -> None:
    assert is_prompt(slowest_read_s)


def slowest_burst_s() -> float:
    """Publisher and member on one shard, the group on the other, mailboxes of one message."""
    topic = next(f"w{n}" for n in range(100) if shard_of(f"g/w{n}", 2) == 0)
    limits = {"mailbox_batches": 1, "mailbox_batch_messages": 1}
    with (
        lapwing.Broker(shards=2, limits=limits) as broker,
        Wire.client(broker.url, name_on(1, 2, "m")) as member,
        Wire.client(broker.url, name_on(1, 2, "p")) as boss,
    ):
        member.subscribe(f"$share/g/{topic}")
        slowest = 0.0
        for count in [2, 3, 5, 2, 4] * 20:
            begun = time.monotonic()
            boss.send(publish(topic) * count)
            for _ in range(count):
                member.expect(PUBLISH)
            slowest = max(slowest, time.monotonic() - begun)
    return slowest


def test_a_group_goes_on_when_its_lane_has_room() -> None:
    assert is_prompt(slowest_burst_s)


def slowest_suback_s() -> float:
    """One SUBSCRIBE of more filters than a mailbox has places, many times: each SUBACK waits for the other shard."""
    filters = [f"f/{n}" for n in range(3)]
    with (
        lapwing.Broker(shards=2, limits={"mailbox_batches": 1}) as broker,
        Wire.client(broker.url, name_on(0, 2, "s")) as wire,
    ):
        slowest = 0.0
        for n in range(300):
            begun = time.monotonic()
            wire.send(subscribe(*(f"{name}/{n}" for name in filters)))
            wire.expect(SUBACK)
            slowest = max(slowest, time.monotonic() - begun)
    return slowest


def test_announcements_go_on_when_their_lane_has_room() -> None:
    assert is_prompt(slowest_suback_s)


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


def slowest_beside_a_flood_s() -> float:
    """Of others who connect and subscribe while one floods both shards with subscriptions."""
    filters = [f"{'f' * 200}/{n}" for n in range(1000)]
    flood = subscribe(*filters) + unsubscribe(*filters)
    with (
        lapwing.Broker(shards=2) as broker,
        Wire.client(broker.url, name_on(0, 2, "flood")) as wire,
        meanwhile(wire, lambda: wire.send(flood), lambda: wire.socket.recv(1 << 20)),
    ):
        slowest = 0.0
        for n in range(8):
            begun = time.monotonic()
            with Wire.client(broker.url, name_on(n % 2, 2, f"other{n}-")) as other:
                other.subscribe(f"quiet/{n}")
            slowest = max(slowest, time.monotonic() - begun)
    return slowest


def test_a_flood_of_subscriptions_holds_up_its_own_client_only() -> None:
    assert is_prompt(slowest_beside_a_flood_s)


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


def slowest_puback_beside_a_hog_s() -> float:
    """Of a modest publisher on one shard, while the other has much to log."""
    streams = {"s": {"filter": "s/#", "retain_bytes": 100_000_000}}
    with (
        lapwing.Broker(shards=2, streams=streams) as broker,
        Wire.client(broker.url, name_on(1, 2, "modest")) as modest,
        Wire.client(broker.url, name_on(0, 2, "hog")) as hog,
        Wire.client(broker.url, name_on(0, 2, "second")) as second,
        meanwhile(second, lambda: second.send(publish("s/hog", b"x" * 200_000) * 5)),
        meanwhile(hog, lambda: hog.send(publish("s/hog", b"x" * 200_000) * 5)),
    ):
        slowest, end = 0.0, time.monotonic() + 2
        while time.monotonic() < end:
            begun = time.monotonic()
            modest.send(publish("s/modest", qos=1))
            modest.expect(PUBACK, 30)
            slowest = max(slowest, time.monotonic() - begun)
    return slowest


def test_a_shard_with_much_to_log_does_not_keep_others_from_it() -> None:
    assert is_prompt(slowest_puback_beside_a_hog_s)
