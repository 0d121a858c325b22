"""Retained messages for a new subscriber: all of them, none older than what it has seen, and at a bounded price."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from wire import CONNACK, PUBACK, PUBLISH, SUBACK, Wire, ack, connect, name_on, publish, subscribe, until

import lapwing


@pytest.fixture(params=[1, 2])
def broker(request: pytest.FixtureRequest) -> Iterator[lapwing.Broker]:
    with lapwing.Broker(shards=request.param) as broker:
        yield broker


def retain(broker: lapwing.Broker, count: int, payload: bytes, qos: int = 0) -> None:
    with Wire.client(broker.url, "retainer") as wire:
        for start in range(0, count, 500):
            numbers = range(start, start + 500)
            wire.send(*(publish(f"r/{n}", payload, qos=qos, packet_id=n + 1, retain=True) for n in numbers))
            for _ in numbers if qos else ():
                wire.expect(PUBACK)
        wire.round_trip()
    until(lambda: broker.metrics()["lapwing_retained_messages"] == count)


def test_more_than_a_queue_holds_arrive(broker: lapwing.Broker) -> None:
    """Does a subscriber that acknowledges at once get each of them, though they are more than its queue may hold?"""
    count = 15_000
    retain(broker, count, b"x", qos=1)
    with Wire.client(broker.url, "reader") as wire:
        wire.send(subscribe(("r/#", 1)))
        wire.expect(SUBACK)
        topics = set()
        while len(topics) < count:
            found = wire.expect(PUBLISH)
            wire.send(ack(PUBACK, found.packet_id))
            topics.add(found.topic)


def test_the_last_value_seen_is_the_newest(broker: lapwing.Broker) -> None:
    """A value published while the replay is under way must not be followed by the one it replaced."""
    count = 10_000
    retain(broker, count, b"old" * 300)
    changed = [f"r/{n}" for n in range(0, count, 50)]
    with Wire(broker.url, receive_buffer_bytes=65536) as wire, Wire.client(broker.url, "writer") as writer:
        wire.send(connect("reader"))
        wire.expect(CONNACK)
        wire.send(subscribe("r/#"))
        wire.expect(SUBACK)
        for n, topic in enumerate(changed):
            writer.send(publish(topic, b"new", qos=1, packet_id=n + 1, retain=True))
            writer.expect(PUBACK)
        last: dict[str, bytes] = {}
        while len(last) < count:
            found = wire.expect(PUBLISH)
            last[found.topic] = found.payload
        for found in wire.round_trip():
            last[found.topic] = found.payload
    stale = [topic for topic in changed if last[topic] != b"new"]
    assert not stale, f"{len(stale)} of {len(changed)} end on the value before"


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_subscribing_again_and_again_costs_the_broker_little() -> None:
    """A client that asks for everything a thousand times and reads nothing must not fill the memory."""
    with lapwing.Broker(shards=1) as broker:
        retain(broker, 10_000, b"x" * 100)
        before = resident_bytes()
        with Wire.client(broker.url, "hog") as hog:
            hog.socket.setblocking(False)
            try:
                for _ in range(1000):
                    hog.socket.send(subscribe("r/#"))
            except BlockingIOError:
                pass  # It is not read any more: that is an answer too.
            with Wire.client(broker.url, "other") as other:
                for _ in range(200):
                    other.round_trip()
            assert resident_bytes() - before < 48 << 20


def test_readers_that_stand_still_cost_the_broker_little() -> None:
    """Retained messages of another shard: paged by what the reader takes, not copied as a whole for each."""
    with lapwing.Broker(shards=2) as broker:
        retain(broker, 10_000, b"x" * 2000)
        before = resident_bytes()
        readers = [Wire(broker.url, receive_buffer_bytes=4096) for _ in range(10)]
        try:
            for n, reader in enumerate(readers):
                reader.send(connect(name_on(n % 2, 2, f"still-{n}-")), subscribe("r/#"))
                reader.expect(CONNACK)
                reader.expect(SUBACK)
            with Wire.client(broker.url, "other") as other:
                for _ in range(500):
                    other.round_trip()
            # Two MiB of output each, and what the lanes hold.
            assert resident_bytes() - before < 50 << 20
        finally:
            for reader in readers:
                reader.close()
