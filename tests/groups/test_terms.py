"""The terms of a member's subscription: identifiers, Retain As Published, overlaps, and packets too large for it."""

from __future__ import annotations

import struct

import pytest
import wire
from crew import SHARES, Hand, publish, until_counted, until_group, until_presence
from members import NEVER_STALLED, UNHURRIED, groups
from wire import varint

import lapwing

pytestmark = pytest.mark.parametrize("shards", SHARES)
RETAIN_AS_PUBLISHED = 8


def identifiers(message: wire.Packet) -> bytes:
    """The properties of a message that was published without any."""
    at = 2 + len(message.topic.encode()) + (2 if message.qos else 0)
    length = message.body[at]
    return message.body[at + 1 : at + 1 + length]


@pytest.mark.statement(5, "MQTT-3.3.4-3")
@pytest.mark.parametrize("qos", [0, 1, 2])
def test_a_message_has_the_identifier_of_its_member(shards, qos):
    with lapwing.Broker(shards=shards, groups=UNHURRIED) as broker:
        for identifier in (7, 300):
            numbered = b"\x0b" + varint(identifier)
            with Hand.joins(broker.url, "c", qos=qos, expiry_s=0, subscription=numbered) as only:
                publish(broker, b"m", qos=qos)
                (message,) = only.messages(1)
                assert (message.qos, identifiers(message)) == (qos, numbered)


def test_another_identifier_holds_for_what_comes_after(shards):
    """Subscribed again with another identifier, then with none."""
    with (
        lapwing.Broker(shards=shards, groups=UNHURRIED) as broker,
        Hand.joins(broker.url, "c", subscription=b"\x0b\x07") as only,
    ):
        for numbered in (b"\x0b\x07", b"\x0b\x09", b""):
            only.asks(("$share/g/t/#", 1), properties=numbered)
            publish(broker, b"m")
            (message,) = only.messages(1)
            only.finishes(message)
            assert identifiers(message) == numbered


def test_a_smaller_receive_maximum_holds_from_the_reconnect(shards):
    """Back with room for one: is it given one at a time, the rest kept by the group?"""
    with lapwing.Broker(shards=shards, groups={"g": {"strategy": "round-robin", **NEVER_STALLED}}) as broker:
        Hand.joins(broker.url, "c").goes()
        until_presence(broker, "c", "away")
        payloads = [b"%d" % n for n in range(5)]
        publish(broker, *payloads)
        with Hand.joins(broker.url, "c", share=None, properties=b"\x21\0\1") as again:
            found = until_group(broker, lambda found: found["unacknowledged"] > 0)
            assert (found["unacknowledged"], found["waiting_bulk"]) == (1, 4)
            assert again.takes(5) == payloads


@pytest.mark.statement(5, "MQTT-3.3.1-12", "MQTT-3.3.1-13")
@pytest.mark.parametrize("keeps", [False, True])
def test_retain_is_as_published_for_who_asks(shards, keeps):
    with lapwing.Broker(shards=shards, groups=UNHURRIED) as broker:
        options = RETAIN_AS_PUBLISHED if keeps else 0
        with Hand.joins(broker.url, "c", options=options) as only:
            publish(broker, b"m", retain=True)
            publish(broker, b"n")
            retained, plain = only.messages(2)
            assert (retained.retain, plain.retain) == (keeps, False)


def test_a_group_gets_no_retained_messages_when_it_begins(shards):
    with lapwing.Broker(shards=shards, groups=UNHURRIED) as broker:
        publish(broker, b"old", retain=True)
        with Hand.joins(broker.url, "c") as only:
            assert only.pending() == []


@pytest.mark.statement(5, "MQTT-3.3.4-5")
def test_a_plain_subscription_beside_it_is_another(shards):
    """A member that also subscribes for itself: every message once for itself, and its turns in the group?"""
    groups = {"g": {"strategy": "round-robin", **NEVER_STALLED}}
    with (
        lapwing.Broker(shards=shards, groups=groups) as broker,
        Hand.joins(broker.url, "both") as both,
        Hand.joins(broker.url, "other") as other,
    ):
        both.asks(("t/#", 1))
        payloads = [b"%d" % n for n in range(6)]
        publish(broker, *payloads)
        assert sorted(both.takes(9) + other.takes(3)) == sorted(payloads * 2)
        assert both.pending() == other.pending() == []
        until_counted(broker, published=6, acknowledged=6)


def test_two_groups_on_one_filter_get_a_copy_each(shards):
    """Two groups, and one member in both under two filters: is each message finished once for each group?"""
    with lapwing.Broker(shards=shards, groups=UNHURRIED) as broker, Hand.joins(broker.url, "c", "$share/g/t/#") as both:
        both.asks(("$share/h/t/#", 1), ("$share/g/t/a", 1))
        publish(broker, b"m")
        assert both.takes(3) == [b"m"] * 3
        wire.until(lambda: [one["counters"]["acknowledged"] for one in groups(broker)] == [1, 1, 1])


@pytest.mark.statement(5, "MQTT-3.1.2-24", "MQTT-3.1.2-25")
@pytest.mark.parametrize("qos", [1, 2])
def test_a_message_too_large_for_its_member_disturbs_nobody(shards, qos):
    """Maximum Packet Size: is it dropped by name, the member kept, and what fits delivered?"""
    small = b"\x27" + struct.pack("!I", 100)
    with (
        lapwing.Broker(shards=shards, groups=UNHURRIED) as broker,
        Hand.joins(broker.url, "c", qos=qos, properties=small) as only,
    ):
        publish(broker, b"x" * 200, b"fits", qos=qos)
        assert only.takes(1) == [b"fits"]
        found = until_counted(broker, published=2, acknowledged=1, dropped={"undeliverable": 1})
        assert found["unacknowledged"] == 0
        told = [line for line in broker.notices() if "none of its members can have them" in line]
        assert len(told) == 1
        assert "***" not in told[0], "a name that looks like a token hides itself"


def test_qos_0_too_large_for_its_member_is_counted(shards):
    small = b"\x27" + struct.pack("!I", 100)
    with (
        lapwing.Broker(shards=shards, groups=UNHURRIED) as broker,
        Hand.joins(broker.url, "c", properties=small) as only,
    ):
        publish(broker, b"x" * 200, b"fits", qos=0)
        assert [message.payload for message in only.messages(1)] == [b"fits"]
        name = 'lapwing_messages_dropped_total{reason="packet_too_large"}'
        wire.until(lambda: broker.metrics()[name] == 1)
