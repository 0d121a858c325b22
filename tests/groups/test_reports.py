"""What members report of their load: with PUBACK and PUBCOMP, and unprompted on `$lapwing/report`."""

from __future__ import annotations

import pytest
import wire
from members import (
    IGNORED,
    REPORT,
    UNHURRIED,
    Member,
    acknowledgement,
    counted,
    group,
    member,
    publish,
    said,
    until_member,
)
from wire import Wire, until

import lapwing

FULL = {"queue": 12, "service_us": 30_000, "rate_per_s": 33}


def reported(seen: dict[str, object]) -> bool:
    """Whether the figures of FULL have arrived: the queue shrinks with time as the work does."""
    return bool(seen["service_ms"] == pytest.approx(30.0) and 0 < float(str(seen["queue"])) <= 12)


@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("qos", [0, 1, 2])
def test_an_unprompted_report_arrives(version, qos):
    with lapwing.Broker(shards=2, groups=UNHURRIED) as broker, Member.of(broker.url, "c", version=version) as consumer:
        consumer.report(qos=qos, **FULL)
        until_member(broker, "c", reported)
        if qos == 2:
            consumer.send(wire.ack(wire.PUBREL, 1))
            consumer.expect(wire.PUBCOMP)
        assert group(broker)["counters"]["reports_refused"] == 0


def test_a_report_comes_with_an_acknowledgement():
    with lapwing.Broker(shards=2, groups=UNHURRIED) as broker, Member.of(broker.url, "c") as consumer:
        publish(broker, b"m")
        (message,) = consumer.messages(1)
        consumer.acknowledge(message, said(queue=12, service_us=30_000, rate=33))
        until_member(broker, "c", reported)


def test_a_report_comes_with_the_end_of_qos_2():
    with lapwing.Broker(shards=2, groups=UNHURRIED) as broker, Member.of(broker.url, "c", qos=2) as consumer:
        with Wire.client(broker.url, "p") as publisher:
            publisher.send(wire.publish("t/a", b"m", qos=2))
            publisher.expect(wire.PUBREC)
            publisher.send(wire.ack(wire.PUBREL, 1))
            publisher.expect(wire.PUBCOMP)
        (message,) = consumer.messages(1)
        consumer.send(wire.ack(wire.PUBREC, message.packet_id))
        consumer.expect(wire.PUBREL)
        consumer.send(acknowledgement(wire.PUBCOMP, message.packet_id, said(queue=12, service_us=30_000)))
        until_member(broker, "c", reported)


def test_a_report_goes_nowhere():
    """Is it neither routed, nor retained, nor dropped as something that nobody wanted?"""
    with lapwing.Broker(shards=2, groups=UNHURRIED) as broker, Wire.client(broker.url, "nosy") as nosy:
        nosy.subscribe(REPORT, "$lapwing/#", "#")
        before = dict(broker.metrics())
        with Member.of(broker.url, "c") as consumer:
            consumer.send(wire.publish(REPORT, b'{"queue": 3}', qos=1, retain=True))
            consumer.expect(wire.PUBACK)
        nosy.subscribe("$lapwing/+")
        assert nosy.round_trip() == []
        dropped = {name: n for name, n in broker.metrics().items() if "dropped" in name and n != before.get(name, 0)}
        assert dropped == {}


def test_a_report_needs_no_right():
    """May a client report whose rules let it publish nothing at all?"""
    rules = [{"identity": "anonymous", "may": ["subscribe"], "topics": ["#"]}]
    with lapwing.Broker(shards=2, rules=rules, groups=UNHURRIED) as broker, Member.of(broker.url, "c") as consumer:
        consumer.report(qos=1, **FULL)
        until_member(broker, "c", reported)


def test_a_watermark_turns_the_tap():
    """Does a member above its high watermark get nothing, and one that has fallen below the low one work again?"""
    with (
        lapwing.Broker(shards=2, groups=UNHURRIED) as broker,
        Member.of(broker.url, "full") as full,
        Member.of(broker.url, "free") as free,
    ):
        full.report(watermark="high", qos=1)
        until_member(broker, "full", lambda seen: bool(seen["is_closed"]))
        free.work()
        publish(broker, *[b"m"] * 40)
        until(lambda: bool(group(broker)["counters"]["acknowledged"] == 40))
        assert full.pending() == []
        full.report(watermark="low", qos=1)
        until_member(broker, "full", lambda seen: not seen["is_closed"])
        until_member(broker, "full", lambda seen: has_taken(broker, seen))
        assert full.messages(1)


def has_taken(broker: lapwing.Broker, seen: dict[str, object]) -> bool:
    """Publishes one more until the member has got one."""
    publish(broker, b"m")
    return int(str(seen["picks"])) > 0


@pytest.mark.parametrize(
    "payload",
    [b'{"queue": 1000001}', b'{"service_us": 0, "queue": 1}', b'{"rate_per_s": 10000001}'],
)
def test_a_report_out_of_range_is_counted_by_its_group(payload):
    with lapwing.Broker(shards=2, groups=UNHURRIED) as broker, Member.of(broker.url, "c") as consumer:
        before = member(broker, "c")
        consumer.report(payload)
        until(lambda: bool(group(broker)["counters"]["reports_refused"] == 1))
        after = member(broker, "c")
        assert (after["service_ms"], after["queue"]) == (before["service_ms"], before["queue"])


@pytest.mark.parametrize(
    "payload", [b"", b"[1]", b"queue", b'{"queue": -1}', b'{"watermark": "up"}', b"{}" + b" " * 1023, b"\xff" * 20_000]
)
def test_a_report_that_cannot_be_read_is_counted_and_hurts_nobody(payload):
    with lapwing.Broker(shards=2, groups=UNHURRIED) as broker, Member.of(broker.url, "c") as consumer:
        with counted(broker, IGNORED, 1):
            consumer.report(payload, qos=1)
        consumer.report(qos=1, **FULL)
        until_member(broker, "c", reported)


def test_a_wrong_property_of_an_acknowledgement_ends_the_message_nevertheless():
    with lapwing.Broker(shards=2, groups=UNHURRIED) as broker, Member.of(broker.url, "c") as consumer:
        publish(broker, b"m")
        (message,) = consumer.messages(1)
        with counted(broker, IGNORED, 1):
            consumer.acknowledge(message, said(queue="many", service_us=30_000))
        until(lambda: bool(group(broker)["counters"]["acknowledged"] == 1))
        assert member(broker, "c")["service_ms"] != pytest.approx(30.0)


def test_a_report_of_nobody_is_counted():
    """Of a client that is in no group, and of one that has left."""
    with (
        lapwing.Broker(shards=2, groups=UNHURRIED) as broker,
        Member.of(broker.url, "stranger", share=None) as stranger,
    ):
        with counted(broker, IGNORED, 1):
            stranger.report(qos=1, **FULL)
        stranger.subscribe(("$share/g/t", 1))
        stranger.report(qos=1, **FULL)
        stranger.send(wire.unsubscribe("$share/g/t"))
        stranger.expect(wire.UNSUBACK)
        with counted(broker, IGNORED, 1):
            stranger.report(qos=1, **FULL)


def test_a_foreign_report_changes_no_group():
    """Somebody who is in no group reports, and somebody who is in another one."""
    with lapwing.Broker(shards=2, groups=UNHURRIED) as broker, Member.of(broker.url, "c") as consumer:
        before = member(broker, "c")
        with (
            Member.of(broker.url, "stranger", share=None) as stranger,
            Member.of(broker.url, "neighbour", "$share/h/t/#") as neighbour,
        ):
            for other in (stranger, neighbour):
                other.report(qos=1, **FULL)
                other.round_trip()
            consumer.round_trip()
            after = member(broker, "c")
        assert (after["service_ms"], after["queue"]) == (before["service_ms"], before["queue"])
