"""What a member declares in CONNECT (5.0) or on `$lapwing/report` (3.1.1 too), seen in what the broker makes of it."""

from __future__ import annotations

import time
from functools import partial

import pytest
import wire
from members import IGNORED, NEVER_STALLED, UNHURRIED, Member, counted, group, member, publish, said, until_member
from wire import until

import lapwing


def finish_late(broker: lapwing.Broker, consumer: Member) -> int:
    """Lets a member finish a message after its deadline; returns how many misses the group counts for it.

    It must not have been late already when it came: on a machine that takes so long the deadline is a longer one.
    """
    for deadline_s in (1, 4, 16):
        before, began = group(broker)["counters"], time.monotonic()
        publish(broker, b"m", properties=said(deadline_ms=1_000 * deadline_s))
        (message,) = consumer.messages(1)
        came_in_time = time.monotonic() - began < deadline_s
        time.sleep(deadline_s + 0.05)
        consumer.acknowledge(message)
        acknowledged = before["acknowledged"] + 1
        until(partial(has_acknowledged, broker, acknowledged))
        if came_in_time:
            return int(group(broker)["counters"]["missed"] - before["missed"])
    raise AssertionError("no message came within a quarter of a minute")


def has_acknowledged(broker: lapwing.Broker, count: int) -> bool:
    return bool(group(broker)["counters"]["acknowledged"] == count)


@pytest.mark.parametrize(
    ("declares", "misses"),
    [
        (said(ack="processed"), 1),
        (said(ack="received"), 0),
        (said(ack="Processed"), 0),
        (b"", 0),
    ],
)
def test_an_acknowledgement_means_what_was_declared(declares, misses):
    """Only who declares `processed` has finished when it acknowledges, and can so be late."""
    groups = UNHURRIED
    with lapwing.Broker(shards=2, groups=groups) as broker, Member.of(broker.url, "c", declares=declares) as consumer:
        assert finish_late(broker, consumer) == misses


@pytest.mark.parametrize(("declares", "misses"), [(b"", 1), (said(ack="received"), 0)])
def test_the_group_speaks_for_who_is_silent(declares, misses):
    groups = {"g": {"acknowledges": "processed", **NEVER_STALLED}}
    with lapwing.Broker(shards=2, groups=groups) as broker, Member.of(broker.url, "c", declares=declares) as consumer:
        assert finish_late(broker, consumer) == misses


@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("qos", [0, 1])
def test_it_may_be_declared_later(version, qos):
    """Does a declaration on `$lapwing/report` hold for a member that had joined before, of 3.1.1 too?"""
    groups = UNHURRIED
    with lapwing.Broker(shards=2, groups=groups) as broker, Member.of(broker.url, "c", version=version) as consumer:
        consumer.report(ack="processed", qos=qos)
        consumer.round_trip()
        assert finish_late(broker, consumer) == 1


def test_a_batch_is_handed_over_at_once():
    """Does one who wants a batch get its Receive Maximum at once, and one who does not a few?"""
    counts = {}
    for batch in (0, 50):
        declares = said(ack="processed", **({"batch": batch} if batch else {}))
        with (
            lapwing.Broker(shards=2, groups=UNHURRIED) as broker,
            Member.of(broker.url, "c", declares=declares, receive_max=50) as consumer,
        ):
            publish(broker, *[b"m"] * 80)
            until(lambda: bool(group(broker)["counters"]["published"] == 80))
            until(lambda: bool(group(broker)["members"][0]["inflight"] > 0))
            counts[batch] = len(consumer.pending())
            assert group(broker)["unacknowledged"] == counts[batch]
    assert counts[50] == 50
    assert 1 <= counts[0] < 25


def test_workers_are_counted():
    """Four at a time, 20 ms each: is the work on one of them 20 ms, although four are done in that time?"""
    declares = said(ack="processed", workers=4)
    with (
        lapwing.Broker(shards=2, groups={"g": {"parameters": {"window": 8, "stall_ms": 0}}}) as broker,
        Member.of(broker.url, "c", declares=declares, receive_max=4) as consumer,
    ):
        publish(broker, *[b"m"] * 400)
        took = [rounds(consumer) for _ in range(100)]
        until(lambda: bool(group(broker)["counters"]["acknowledged"] == 400))
        mean_ms = 1000 * sum(took[-30:]) / 30
        service_ms = member(broker, "c")["service_ms"]
    # Neither a quarter of it nor four times as much. A stall weighs otherwise in a mean than in an estimate.
    assert 0.75 * 20 <= service_ms <= 1.6 * mean_ms, took[-30:]


def rounds(consumer: Member) -> float:
    """Works on four messages at once for 20 ms; returns how long that was, in seconds."""
    began = time.monotonic()
    messages = consumer.messages(4)
    time.sleep(0.02)
    for message in messages:
        consumer.acknowledge(message)
    return time.monotonic() - began


def test_wrong_declarations_are_ignored_and_counted():
    """Is a client that declares nonsense a standard client, and is each nonsense counted once?"""
    wrong = said(ack="done", workers=0, batch=65_536, probe=49)
    with lapwing.Broker(shards=2, groups=UNHURRIED) as broker:
        with counted(broker, IGNORED, 4), Member.of(broker.url, "c", declares=wrong) as consumer:
            assert finish_late(broker, consumer) == 0
        with counted(broker, IGNORED, 0), Member.of(broker.url, "d", declares=said(else_="x")) as consumer:
            consumer.round_trip()


def test_a_declaration_ends_with_its_connection():
    """Does who comes back without a declaration stand there as a standard client?"""
    expiry = b"\x11\0\0\0\x3c"
    with lapwing.Broker(shards=2, groups=UNHURRIED) as broker:
        with Member.of(broker.url, "c", declares=expiry + said(ack="processed")) as consumer:
            consumer.round_trip()
        until_member(broker, "c", lambda seen: bool(seen["presence"] == "away"))
        with Member(broker.url) as consumer:
            consumer.send(wire.connect("c", clean=False, properties=expiry))
            consumer.expect(wire.CONNACK)
            until_member(broker, "c", lambda seen: bool(seen["presence"] == "here"))
            assert finish_late(broker, consumer) == 0
