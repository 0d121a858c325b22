"""A message is with the group's queue or with one member: what happens to it when that member's connection is over."""

from __future__ import annotations

import pytest
import wire
from crew import (
    SESSION_TAKEN_OVER,
    SHARES,
    TIGHT,
    Hand,
    dup,
    inflight,
    publish,
    until_counted,
    until_group,
    until_presence,
)
from members import NEVER_STALLED, UNHURRIED, group, groups

import lapwing

pytestmark = pytest.mark.parametrize("shards", SHARES)


def rest_goes_to(broker: lapwing.Broker, other: Hand, payloads: set[bytes]) -> None:
    """Another member gets exactly these, each once, and the group has nothing left."""
    taken = other.takes(len(payloads))
    assert sorted(taken) == sorted(payloads)
    until_group(broker, lambda found: found["unacknowledged"] == 0)
    assert other.pending() == []


def test_a_lost_connection_gives_its_messages_to_others(shards):
    """Does everything that was not acknowledged reach the other member, once, and not come back to the first?"""
    with lapwing.Broker(shards=shards, limits=TIGHT, groups=UNHURRIED) as broker:
        first = Hand.joins(broker.url, "first")
        publish(broker, b"0", b"1", b"2")
        messages = first.messages(3)
        first.finishes(messages[0])
        until_counted(broker, acknowledged=1)
        with Hand.joins(broker.url, "second") as second:
            assert second.pending() == []
            first.goes()
            rest_goes_to(broker, second, {b"1", b"2"})
            with Hand.joins(broker.url, "first", share=None) as again:
                assert again.connack.body[0] == 1
                assert again.pending() == []
        until_counted(broker, published=3, acknowledged=3, moved=2, redelivered=2, dropped={})


@pytest.mark.statement(5, "MQTT-3.3.1-3")
def test_what_moves_is_no_retransmission(shards):
    """Is DUP 0 for the member that has never seen the message [MQTT-3.3.1-3]?"""
    with lapwing.Broker(shards=shards, groups=UNHURRIED) as broker, Hand.joins(broker.url, "first") as first:
        publish(broker, b"m")
        first.messages(1)
        with Hand.joins(broker.url, "second") as second:
            first.goes()
            (message,) = second.messages(1)
            assert not dup(message)


@pytest.mark.parametrize("clean", [False, True])
def test_who_is_taken_over_gives_back(shards, clean):
    """With Clean Start the other gets all; without, the session may have it again, under a new packet id."""
    with lapwing.Broker(shards=shards, groups=UNHURRIED) as broker:
        first = Hand.joins(broker.url, "c")
        publish(broker, b"0", b"1")
        had = {message.packet_id for message in first.messages(2)}
        with Hand.joins(broker.url, "c", share=None, clean=clean) as again:
            assert again.connack.body[0] == (not clean)
            assert first.dismissed() == SESSION_TAKEN_OVER
            if clean:
                # The session was the last member, and nobody has declared the group.
                assert again.pending() == []
                return
            messages = again.messages(2)
            assert {message.payload for message in messages} == {b"0", b"1"}
            assert not had & {message.packet_id for message in messages}
            for message in messages:
                again.finishes(message)
            until_counted(broker, acknowledged=2, moved=2)


@pytest.mark.parametrize("clean", [False, True])
def test_a_late_acknowledgement_of_an_earlier_connection_changes_nothing(shards, clean):
    """The old connection's PUBACK meets a new message of the same packet id: is that one still to be acknowledged?"""
    with lapwing.Broker(shards=shards, groups={"g": {"filters": ["t/#"], **NEVER_STALLED}}) as broker:
        old = Hand.joins(broker.url, "c")
        publish(broker, b"m")
        (first,) = old.messages(1)
        new = Hand.joins(broker.url, "c", clean=clean)
        (again,) = new.messages(1)
        assert again.payload == b"m"
        if clean:
            assert again.packet_id == first.packet_id
        old.send(wire.ack(wire.PUBACK, first.packet_id))
        old.dismissed()
        if not clean:
            new.send(wire.ack(wire.PUBACK, first.packet_id))
        assert new.pending() == []
        assert group(broker)["counters"]["acknowledged"] == 0
        assert inflight(broker, "c") == 1
        new.finishes(again)
        until_counted(broker, published=1, acknowledged=1)


def test_an_acknowledgement_twice_counts_once(shards):
    with lapwing.Broker(shards=shards, groups=UNHURRIED) as broker, Hand.joins(broker.url, "c") as only:
        publish(broker, b"0", b"1")
        one, two = only.messages(2)
        only.send(wire.ack(wire.PUBACK, one.packet_id) * 3)
        only.round_trip()
        until_counted(broker, acknowledged=1)
        only.finishes(two)
        until_counted(broker, acknowledged=2, late_acknowledgements=0)


def test_an_expired_session_is_no_member(shards):
    """Does the end of a session by expiry, long after its connection, leave the group to the others?"""
    with lapwing.Broker(shards=shards, groups=UNHURRIED) as broker, Hand.joins(broker.url, "stays") as stays:
        leaver = Hand.joins(broker.url, "leaver", expiry_s=1)
        leaver.goes()
        until_presence(broker, "leaver", None)
        publish(broker, b"m")
        assert stays.takes(1) == [b"m"]


def test_the_last_session_takes_an_undeclared_group_with_it(shards):
    """Is what waits dropped, and the group gone and new when somebody joins again?"""
    with lapwing.Broker(shards=shards, groups=UNHURRIED) as broker:
        with Hand.joins(broker.url, "c", expiry_s=0):
            publish(broker, b"m")
            until_counted(broker, published=1)
        wire.until(lambda: not groups(broker))
        with Hand.joins(broker.url, "c") as again:
            assert again.pending() == []
            assert group(broker)["counters"]["published"] == 0
