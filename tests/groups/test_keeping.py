"""What a group keeps for its members: late binding, members that are away, QoS 0."""

from __future__ import annotations

import struct

import pytest
from crew import SHARES, TIGHT, Hand, publish, until_counted, until_group, until_presence
from members import NEVER_STALLED, UNHURRIED, member

import lapwing

pytestmark = pytest.mark.parametrize("shards", SHARES)


def test_nothing_waits_behind_a_slow_member(shards):
    """One member takes a few and finishes none: does the other finish all the rest, and get not one of those few?"""
    never = {"g": {"parameters": {"stall_ms": 0}, "acknowledges": "processed"}}
    with (
        lapwing.Broker(shards=shards, limits=TIGHT, groups=never) as broker,
        Hand.joins(broker.url, "stuck") as stuck,
        Hand.joins(broker.url, "works") as works,
    ):
        # Not at once: who acknowledges on receipt gets its turn only.
        works.work(0.003)
        publish(broker, *(b"%d" % n for n in range(300)))
        found = until_group(broker, lambda found: found["counters"]["acknowledged"] + found["unacknowledged"] == 300)
        had = stuck.pending()
        assert 0 < len(had) < 20
        assert found["waiting_bulk"] == 0
        assert member(broker, "stuck")["inflight"] == len(had)


@pytest.mark.statement(5, "MQTT-3.3.4-9")
def test_no_more_than_receive_maximum_is_under_way(shards):
    with (
        lapwing.Broker(shards=shards, groups={"g": {"strategy": "round-robin", **NEVER_STALLED}}) as broker,
        Hand.joins(broker.url, "c", properties=b"\x21" + struct.pack("!H", 2)) as only,
    ):
        publish(broker, *(b"%d" % n for n in range(5)))
        found = until_group(broker, lambda found: found["counters"]["published"] == 5)
        assert (found["unacknowledged"], found["waiting_bulk"]) == (2, 3)
        assert len(only.pending()) == 2
        assert member(broker, "c")["inflight"] == 2


@pytest.mark.parametrize("qos", [0, 1, 2])
def test_members_that_are_away_keep_acknowledged_qos_only(shards, qos):
    """Nobody is connected: are QoS 1 and 2 there when somebody comes back, and QoS 0 dropped by name?"""
    with lapwing.Broker(shards=shards, groups=UNHURRIED) as broker:
        Hand.joins(broker.url, "c", qos=2).goes()
        until_presence(broker, "c", "away")
        publish(broker, b"0", b"1", qos=qos)
        if qos == 0:
            until_counted(broker, published=2, dropped={"group_empty": 2})
        else:
            assert until_counted(broker, published=2, dropped={})["waiting_bulk"] == 2
        with Hand.joins(broker.url, "c", share=None) as again:
            if qos == 0:
                assert again.pending() == []
            else:
                assert again.takes(2) == [b"0", b"1"]


def test_the_one_who_comes_back_need_not_be_the_one_who_left(shards):
    """Two members away: does the first that returns get everything?"""
    with lapwing.Broker(shards=shards, groups=UNHURRIED) as broker:
        for name in ("a", "b"):
            Hand.joins(broker.url, name).goes()
            until_presence(broker, name, "away")
        publish(broker, b"0", b"1", b"2")
        with Hand.joins(broker.url, "b", share=None) as back:
            assert back.takes(3) == [b"0", b"1", b"2"]


@pytest.mark.parametrize(("published", "subscribed"), [(0, 1), (1, 0), (2, 0)])
def test_a_group_of_qos_0_hands_over_and_forgets(shards, published, subscribed):
    """Published or subscribed with QoS 0: one member each, spread over both, and nothing left to acknowledge."""
    with (
        lapwing.Broker(shards=shards, groups=UNHURRIED) as broker,
        Hand.joins(broker.url, "a", qos=subscribed) as a,
        Hand.joins(broker.url, "b", qos=subscribed) as b,
    ):
        publish(broker, *(b"%d" % n for n in range(20)), qos=published)
        until_counted(broker, published=20, unacknowledged=20)
        to_a, to_b = a.pending(), b.pending()
        assert {message.qos for message in to_a + to_b} == {0}
        assert sorted(int(message.payload) for message in to_a + to_b) == list(range(20))
        assert to_a
        assert to_b


def test_order_is_kept_for_one_member(shards):
    """A thousand messages of one publisher to the only member: in the order in which they were sent?"""
    with lapwing.Broker(shards=shards, limits=TIGHT, groups=UNHURRIED) as broker, Hand.joins(broker.url, "c") as only:
        payloads = [b"%d" % n for n in range(1000)]
        publish(broker, *payloads)
        assert only.takes(1000) == payloads
