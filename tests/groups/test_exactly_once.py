"""QoS 2 through a group: what was not written moves, what has begun is finished by the client that it began with."""

from __future__ import annotations

import struct

import pytest
import wire
from crew import SHARES, Hand, dup, publish, refusal, until_counted, until_group, until_presence
from members import NEVER_STALLED, UNHURRIED, group

import lapwing

pytestmark = pytest.mark.parametrize("shards", SHARES)
DURABLE = {"g": {"filters": ["t/#"], **NEVER_STALLED}}


@pytest.mark.statement(5, "MQTT-4.8.2-4", "MQTT-4.4.0-1")
def test_what_has_begun_waits_for_its_client(shards):
    """After the PUBLISH, and after the PUBREC: is it sent again to the same client only, and ends once?"""
    with lapwing.Broker(shards=shards, groups=UNHURRIED) as broker:
        first = Hand.joins(broker.url, "first", qos=2)
        publish(broker, b"0", b"1", qos=2)
        published, received = first.messages(2)
        first.send(wire.ack(wire.PUBREC, received.packet_id))
        first.expect(wire.PUBREL)
        with Hand.joins(broker.url, "second", qos=2) as second:
            first.goes()
            until_presence(broker, "first", "away")
            assert second.pending() == []
            with Hand.joins(broker.url, "first", share=None) as again:
                repeated, released = again.expect(wire.PUBLISH), again.expect(wire.PUBREL)
                assert dup(repeated)
                assert (repeated.packet_id, released.packet_id) == (published.packet_id, received.packet_id)
                again.send(wire.ack(wire.PUBCOMP, released.packet_id))
                again.finishes(repeated)
                until_counted(broker, acknowledged=2, moved=0, redelivered=0)
                assert again.pending() == second.pending() == []


def test_what_was_not_written_moves(shards):
    """More than the member may have: does what stayed in the queue go to another, and only that?"""
    with lapwing.Broker(shards=shards, groups=UNHURRIED) as broker:
        first = Hand.joins(broker.url, "first", qos=2, properties=b"\x21" + struct.pack("!H", 2))
        publish(broker, *(b"%d" % n for n in range(6)), qos=2)
        begun = {message.payload for message in first.messages(2)}
        first.goes()
        until_presence(broker, "first", "away")
        with Hand.joins(broker.url, "second", qos=2) as second:
            taken = second.takes(4)
            assert {*taken, *begun} == {b"%d" % n for n in range(6)}
            assert second.pending() == []
            with Hand.joins(broker.url, "first", share=None) as again:
                assert set(again.takes(2)) == begun
        until_counted(broker, published=6, acknowledged=6)


@pytest.mark.statement(5, "MQTT-4.8.2-5")
def test_taken_over_with_clean_start_it_ends_by_name(shards):
    """The session is gone that it began with [MQTT-4.8.2-5]: is it dropped, counted, and sent to nobody?"""
    with lapwing.Broker(shards=shards, groups=DURABLE) as broker:
        first = Hand.joins(broker.url, "first", qos=2)
        publish(broker, b"m", qos=2)
        first.messages(1)
        with (
            Hand.joins(broker.url, "second", qos=2) as second,
            Hand.joins(broker.url, "first", clean=True, qos=2) as again,
        ):
            until_counted(broker, dropped={"session_ended": 1})
            assert second.pending() == again.pending() == []


@pytest.mark.statement(5, "MQTT-4.8.2-5")
def test_it_ends_with_its_session(shards):
    """By expiry: dropped by name; and QoS 1 of the same session goes to another."""
    with lapwing.Broker(shards=shards, groups=UNHURRIED) as broker:
        first = Hand.joins(broker.url, "first", qos=2, expiry_s=1)
        publish(broker, b"two", qos=2)
        publish(broker, b"one", qos=1)
        first.messages(2)
        with Hand.joins(broker.url, "second", qos=2) as second:
            first.goes()
            assert second.takes(1) == [b"one"]
            until_counted(broker, acknowledged=1, dropped={"session_ended": 1})
            assert second.pending() == []


@pytest.mark.statement(5, "MQTT-4.8.2-6", "MQTT-4.4.0-2")
@pytest.mark.parametrize("kind", [wire.PUBACK, wire.PUBREC])
@pytest.mark.parametrize("reason", [0x80, 0x97])
def test_a_refusal_ends_the_message(shards, kind, reason):
    """With others there [MQTT-4.8.2-6]: counted as refused, sent to nobody else, and its place is free."""
    qos = 1 if kind == wire.PUBACK else 2
    with (
        lapwing.Broker(shards=shards, groups={"g": {"strategy": "round-robin", **NEVER_STALLED}}) as broker,
        Hand.joins(broker.url, "first", qos=qos) as first,
        Hand.joins(broker.url, "second", qos=qos) as second,
    ):
        publish(broker, b"0", b"1", qos=qos)
        (message,), (other,) = first.messages(1), second.messages(1)
        first.send(refusal(kind, message.packet_id, reason))
        until_counted(broker, refused=1)
        assert first.pending() == second.pending() == []
        second.finishes(other)
        found = until_counted(broker, refused=1, acknowledged=1, moved=0)
        assert found["unacknowledged"] == 0


def test_a_refusal_below_0x80_is_none(shards):
    """PUBACK 0x10 (no matching subscribers) has no meaning for a client, but it is a success."""
    with lapwing.Broker(shards=shards, groups=UNHURRIED) as broker, Hand.joins(broker.url, "c") as only:
        publish(broker, b"m")
        (message,) = only.messages(1)
        only.send(refusal(wire.PUBACK, message.packet_id, 0x10))
        until_counted(broker, acknowledged=1, refused=0)


def test_begun_messages_outlive_unsubscribe_and_reconnect(shards):
    """A member that has left comes back with its session: does it finish what it had begun, as no member?"""
    with lapwing.Broker(shards=shards, groups=DURABLE) as broker:
        first = Hand.joins(broker.url, "first", qos=2)
        publish(broker, b"m", qos=2)
        first.messages(1)
        first.leaves("$share/g/t/#")
        first.goes()
        with Hand.joins(broker.url, "first", share=None) as again:
            assert again.takes(1) == [b"m"]
            until_counted(broker, acknowledged=1)
            until_presence(broker, "first", None)
            publish(broker, b"later", qos=2)
            assert again.pending() == []
        until_group(broker, lambda found: found["waiting_bulk"] == 1)
        assert group(broker)["members"] == []


@pytest.mark.parametrize("clean", [False, True])
def test_a_reconnect_in_the_middle_delivers_nothing_twice(shards, clean):
    """Publisher and member both QoS 2, the member taken over between PUBREC and PUBREL: one PUBLISH in all?"""
    with lapwing.Broker(shards=shards, groups=DURABLE) as broker:
        first = Hand.joins(broker.url, "c", qos=2)
        publish(broker, b"m", qos=2)
        (message,) = first.messages(1)
        first.send(wire.ack(wire.PUBREC, message.packet_id))
        with Hand.joins(broker.url, "c", clean=clean, share=None) as again:
            if clean:
                assert again.pending() == []
                until_counted(broker, dropped={"session_ended": 1})
                return
            assert again.expect(wire.PUBREL).packet_id == message.packet_id
            again.send(wire.ack(wire.PUBCOMP, message.packet_id))
            until_counted(broker, acknowledged=1)
