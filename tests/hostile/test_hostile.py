"""Clients that mean harm: each is contained, each is counted, and the others go on as before.

What the others feel in numbers is a benchmark: ``python -m benches floods``.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable
from functools import partial

from wire import CONNACK, PUBACK, PUBLISH, SUBACK, Packet, Wire, connect, packet, publish, subscribe, until

import lapwing

MALFORMED, TOPIC_FILTER_INVALID, TOPIC_NAME_INVALID, TOO_LARGE, QUOTA_EXCEEDED = 0x81, 0x8F, 0x90, 0x95, 0x97
LONGEST = b"\xff\xff\xff\x7f"
"""The largest length that four bytes can announce: 256 MiB less one. A gigabyte needs a fifth, which does not exist."""
DEEP_TOPIC = "/".join(["a"] * 32_000) + "a" * 1_536
"""65,535 bytes in 32,000 levels."""
AS_LARGE_AS_CAN_BE = {"topic_bytes_max": 65_535, "topic_levels_max": 65_535}


def closed(broker: lapwing.Broker, reason: str) -> float:
    return metric(broker, "lapwing_connections_closed_total", reason)


def metric(broker: lapwing.Broker, name: str, label: str = "") -> float:
    """The sum of a metric over its labels, or of those with this one."""
    found = broker.metrics().items()
    return sum(value for key, value in found if key.split("{")[0] == name and label in key)


def goes_on(broker: lapwing.Broker, client_id: str = "honest") -> None:
    """Somebody else connects, subscribes, publishes and receives, at once."""
    with Wire.client(broker.url, client_id) as wire:
        wire.subscribe(f"own/{client_id}")
        wire.send(publish(f"own/{client_id}", b"x"))
        assert wire.expect(PUBLISH).payload == b"x"


def test_readers_that_do_not_read() -> None:
    """Output buffers are bounded however many of them there are, and the reader beside them loses nothing."""
    limits = {"output_high_bytes": 100_000, "output_bytes_max": 200_000, "output_stall": "60s"}
    with lapwing.Broker(shards=2, limits=limits) as broker, Wire.client(broker.url, "writer") as writer:
        deaf = [Wire(broker.url, receive_buffer_bytes=4096) for _ in range(20)]
        for n, wire in enumerate(deaf):
            wire.send(connect(f"deaf{n}"))
            wire.expect(CONNACK)
            wire.subscribe("news")
        with Wire.client(broker.url, "reader") as reader:
            reader.subscribe("news")
            sent = 0
            while metric(broker, "lapwing_messages_dropped_total", "output_full") < 2_000:
                writer.send(publish("news", b"x" * 10_000))
                sent += 1
                assert reader.expect(PUBLISH).payload == b"x" * 10_000
            until(lambda: 0 < metric(broker, "lapwing_memory_bytes", "buffers") < 20 * 2 * 200_000)
        for wire in deaf:
            wire.close()


def half_open(broker: lapwing.Broker) -> list[Wire]:
    """Three hundred connections that have sent a part of their CONNECT."""
    flood = [Wire(broker.url) for _ in range(300)]
    for wire in flood:
        wire.send(connect("x" * 100)[:40])
    return flood


def test_a_flood_of_half_open_connects_holds_nobody_up() -> None:
    """Does somebody else come in and go on while all of them have their places?"""
    with lapwing.Broker(shards=2, limits={"connect_timeout": "10m", "connections_max": 500}) as broker:
        flood = half_open(broker)
        goes_on(broker)
        until(lambda: metric(broker, "lapwing_connections") >= 300)
        for wire in flood:
            wire.close()


def test_half_open_connects_are_closed() -> None:
    """Does each cost its place for the time to a complete CONNECT, and no more?"""
    with lapwing.Broker(shards=2, limits={"connect_timeout": "1s", "connections_max": 400}) as broker:
        flood = half_open(broker)
        until(lambda: closed(broker, "connect_timeout") == 300)
        until(lambda: metric(broker, "lapwing_connections") == 0)
        for wire in flood:
            wire.expect_end()
            wire.close()


def test_connections_beyond_the_limit() -> None:
    """They are closed at once and counted; who is in stays in."""
    with (
        lapwing.Broker(shards=2, limits={"connections_max": 50, "held_times_free_max": 0}) as broker,
        Wire.client(broker.url, "honest") as honest,
    ):
        others = [Wire.client(broker.url, f"other{n}") for n in range(49)]
        flood = [Wire(broker.url) for _ in range(200)]
        until(lambda: metric(broker, "lapwing_connections_refused_total") == 200)
        honest.round_trip()
        for wire in others + flood:
            wire.close()


def test_silent_connections_give_way() -> None:
    """Who says nothing has three quarters of the places from one address, and one less for each who comes in."""
    limits = {"connect_timeout": "10m", "connections_max": 50, "held_times_free_max": 0}
    with lapwing.Broker(shards=2, limits=limits) as broker:
        flood = [Wire(broker.url) for _ in range(200)]
        # Those that the limit of an address has ended and that are not closed yet count among connections_max.
        until(lambda: metric(broker, "lapwing_strangers_refused_total") == 200 - 37)
        others = [Wire.client(broker.url, f"other{n}") for n in range(50)]
        for wire in others:
            wire.round_trip()
        assert metric(broker, "lapwing_strangers_refused_total") >= 200
        for wire in others + flood:
            wire.close()


def test_a_huge_length_is_refused_from_its_header() -> None:
    with lapwing.Broker(shards=1) as broker, Wire.client(broker.url, "hostile") as wire:
        wire.send(b"\x30" + LONGEST)
        assert (last := wire.receive()) is not None
        assert last.reason == TOO_LARGE
        wire.expect_end()
        assert closed(broker, "packet_too_large") == 1
        goes_on(broker)


def test_a_length_of_five_bytes_is_malformed() -> None:
    """1 GiB would be 0x80 0x80 0x80 0x80 0x04."""
    with lapwing.Broker(shards=1) as broker, Wire.client(broker.url, "hostile") as wire:
        wire.send(b"\x30\x80\x80\x80\x80\x04")
        assert (last := wire.receive()) is not None
        assert last.reason == MALFORMED
        wire.expect_end()
        goes_on(broker)


def test_what_is_announced_is_not_allocated() -> None:
    """Where packets of 255 MiB are allowed, a hundred clients that only announce one hold what they sent."""
    with lapwing.Broker(shards=1, limits={"packet_bytes_max": 255 << 20}) as broker:
        flood = [Wire.client(broker.url, f"hostile{n}") for n in range(100)]
        for wire in flood:
            wire.send(b"\x30\xff\xff\xff\x7e" + b"x" * 1000)  # 254 MiB
        until(lambda: metric(broker, "lapwing_memory_bytes", "buffers") >= 100 * 1000)
        assert metric(broker, "lapwing_memory_bytes", "buffers") < 100 * 4096
        goes_on(broker)
        for wire in flood:
            wire.close()


def refused_of(answer: Packet) -> int:
    """Filters of a SUBACK that were refused for the quota; its properties are empty."""
    return answer.body[3:].count(QUOTA_EXCEEDED)


def test_a_hundred_thousand_subscriptions_of_one_client() -> None:
    """Beyond the limit each is refused in the SUBACK; the others get theirs long before the flood is through."""
    batches = [subscribe(*(f"flood/{batch}/{n}" for n in range(1000)), packet_id=batch + 1) for batch in range(100)]
    with lapwing.Broker(shards=2) as broker, Wire.client(broker.url, "hostile") as wire:
        threading.Thread(target=lambda: wire.send(*batches), daemon=True).start()
        refused = sum(refused_of(wire.expect(SUBACK, 30)) for _ in range(100))
        assert refused == 90_000
        assert metric(broker, "lapwing_subscriptions") == 10_000
        assert metric(broker, "lapwing_subscriptions_refused_total") == 90_000
        assert metric(broker, "lapwing_memory_bytes", "subscriptions") < 20e6
        goes_on(broker)


def test_as_many_where_they_are_allowed() -> None:
    """They are kept, they go with their session, and connections do not wait for either."""
    batches = [subscribe(*(f"flood/{batch}/{n}" for n in range(1000)), packet_id=batch + 1) for batch in range(100)]
    answered: list[int] = []
    over = threading.Event()
    limits = {"subscriptions_per_session_max": 100_000, "packet_bytes_max": 2 << 20}
    with lapwing.Broker(shards=2, limits=limits) as broker:
        with Wire.client(broker.url, "hostile") as wire:

            def flood() -> None:
                while not over.is_set():
                    threading.Thread(target=wire.send, args=batches, daemon=True).start()
                    for _ in batches:
                        answered.append(wire.expect(SUBACK, 60).kind)

            flooding = threading.Thread(target=flood, daemon=True)
            flooding.start()
            until(lambda: metric(broker, "lapwing_subscriptions") > 2_000)
            # In what has been answered meanwhile, not in seconds: behind the whole flood each would see it all pass.
            passed = [answered_while(answered, partial(goes_on, broker, f"honest{n}")) for n in range(10)]
            assert flooding.is_alive()
            assert min(passed) < len(batches) // 2, f"of {len(batches)} in a row so many passed: {passed}"
            over.set()
            flooding.join(60)
            assert metric(broker, "lapwing_subscriptions") == 100_000
        until(lambda: metric(broker, "lapwing_subscriptions") == 0)
        goes_on(broker)


def answered_while(answered: list[int], work: Callable[[], None]) -> int:
    """How many of the flood's packets were answered from the beginning of `work` to its end."""
    before = len(answered)
    work()
    return len(answered) - before


def test_a_topic_of_32_000_levels_is_refused() -> None:
    """By itself: a client that is cut off for it would bring it again."""
    assert len(DEEP_TOPIC) == 65_535
    with lapwing.Broker(shards=1) as broker, Wire.client(broker.url, "hostile") as wire:
        wire.send(publish(DEEP_TOPIC), publish(DEEP_TOPIC, qos=1))
        assert wire.expect(PUBACK).reason == TOPIC_NAME_INVALID
        assert wire.round_trip() == []
        assert metric(broker, "lapwing_messages_dropped_total", "beyond_limit") == 2
        goes_on(broker)


def test_filters_beyond_the_limits_are_refused_beside_others() -> None:
    """A client that was cut off for one of them would come back and ask for all again."""
    with lapwing.Broker(shards=1) as broker, Wire.client(broker.url, "hostile") as wire:
        wire.send(subscribe("fine", DEEP_TOPIC, "x" * 1_025, "fine/too"))
        assert list(wire.expect(SUBACK).body[3:]) == [0, TOPIC_FILTER_INVALID, TOPIC_FILTER_INVALID, 0]
        goes_on(broker)


def test_such_a_topic_where_it_is_allowed() -> None:
    """As message, filter and retained message: no recursion ends the stack, no square of its length the patience."""
    wildcards = "/".join(["+"] * 32_000)
    with lapwing.Broker(shards=2, limits=AS_LARGE_AS_CAN_BE) as broker, Wire.client(broker.url, "hostile") as wire:
        wire.subscribe(DEEP_TOPIC, wildcards)
        wire.send(publish(DEEP_TOPIC, b"1", qos=1, retain=True))
        kinds = sorted([(wire.receive() or Packet(0, b"", 5)).kind for _ in range(2)])
        assert kinds == [PUBLISH, PUBACK]
        with Wire.client(broker.url, "late") as late:
            late.subscribe(wildcards)
            assert late.expect(PUBLISH).retain
        wire.send(publish(DEEP_TOPIC, b"", qos=1, retain=True))
        goes_on(broker)


def test_many_deep_topics_cost_what_they_say() -> None:
    """A hundred retained topics of 32,000 levels each stay within the bytes that retained messages may have."""
    limits = AS_LARGE_AS_CAN_BE | {"retained_bytes_max": "2MiB"}
    with lapwing.Broker(shards=1, limits=limits) as broker, Wire.client(broker.url, "hostile") as wire:
        for n in range(100):
            topic = f"{n:03}/" + DEEP_TOPIC[4:]
            wire.send(publish(topic, b"x", qos=1, packet_id=n + 1, retain=True))
            wire.expect(PUBACK)
        assert metric(broker, "lapwing_retained_bytes") <= 2 << 20
        assert metric(broker, "lapwing_messages_dropped_total", "retained_full") > 0
        goes_on(broker)


def test_packets_that_lie_about_what_is_in_them() -> None:
    """Lengths inside a packet that point beyond it close the one connection."""
    lies = [
        packet(0x30, struct.pack("!H", 65_535) + b"a"),
        packet(0x82, b"\0\1\0" + struct.pack("!H", 65_535) + b"a\0"),
        packet(0x10, b"\0\4MQTT\5\2\0\0\0" + struct.pack("!H", 65_535)),
        packet(0x30, b"\0\1a" + LONGEST),
    ]
    with lapwing.Broker(shards=1) as broker:
        for lie in lies:
            with Wire.client(broker.url, "hostile") as wire:
                wire.send(lie)
                assert (last := wire.receive()) is not None
                assert last.reason in (MALFORMED, 0x82)
                wire.expect_end()
        goes_on(broker)
