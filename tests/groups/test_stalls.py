"""Members that stall: they are sent away, their work goes to others, and they are let in again slowly."""

from __future__ import annotations

import json

import pytest
from crew import ADMINISTRATIVE_ACTION, SHARES, Hand, publish, until_counted
from members import group, member, said
from wire import until

import lapwing

pytestmark = pytest.mark.parametrize("shards", SHARES)
HASTY = {"g": {"parameters": {"stall_ms": 400, "stall_factor": 1}}}
"""A member is stalled when its oldest message is overdue by two fifths of a second."""
CALM = {"g": {"parameters": {"stall_ms": 1500, "stall_factor": 1}}}
"""By one and a half: a member that works is not taken for stalled because others have the cores."""
PATIENT = {"g": {"parameters": {"stall_ms": 0}}}
"""Never."""


def test_who_stalls_is_sent_away_and_its_work_moves(shards):
    """DISCONNECT 0x98, everything it had goes to the other, and nothing else is done twice."""
    with lapwing.Broker(shards=shards, groups=CALM) as broker, Hand.joins(broker.url, "stalls") as stalls:
        publish(broker, *(b"%d" % n for n in range(20)))
        with Hand.joins(broker.url, "works") as works:
            works.work()
            had, reason = stalls.last_words()
            assert had
            assert reason == ADMINISTRATIVE_ACTION
            counters = until_counted(broker, acknowledged=20, kicks=1, dropped={})["counters"]
            assert counters["redelivered"] == len(had)
            assert member(broker, "stalls")["presence"] == "away"
            assert member(broker, "works")["acknowledged"] == 20


def test_who_works_slowly_stays(shards):
    """Is a member that finishes one message after the other kept, although much waits?"""
    with lapwing.Broker(shards=shards, groups=CALM) as broker, Hand.joins(broker.url, "slow") as slow:
        publish(broker, *(b"%d" % n for n in range(40)))
        slow.work(0.1).join(0.001)
        until_counted(broker, acknowledged=40, kicks=0)


def test_a_client_of_3_1_1_is_closed_without_a_word(shards):
    with lapwing.Broker(shards=shards, groups=HASTY) as broker:
        stalls = Hand.joins(broker.url, "stalls", version=4)
        publish(broker, b"m")
        assert stalls.dismissed() == -1
        with Hand.joins(broker.url, "works") as works:
            assert works.takes(1) == [b"m"]
        until_counted(broker, kicks=1, acknowledged=1)


def test_a_late_acknowledgement_before_the_end_still_counts(shards):
    """Is what a kicked member had acknowledged in time not done again?"""
    with lapwing.Broker(shards=shards, groups=PATIENT) as broker, Hand.joins(broker.url, "stalls") as stalls:
        publish(broker, b"0", b"1")
        first, second = stalls.messages(2)
        stalls.finishes(second)
        until_counted(broker, acknowledged=1)
        broker._running().put_group("g", json.dumps(HASTY["g"]))
        assert stalls.dismissed() == ADMINISTRATIVE_ACTION
        with Hand.joins(broker.url, "works") as works:
            assert works.takes(1) == [first.payload]
            assert works.pending() == []
        until_counted(broker, acknowledged=2)


def test_who_stalls_again_and_again_is_let_in_slowly(shards):
    """After the second stall: does it get nothing at first, and less than before, while another has everything?"""
    groups = {"g": {**HASTY["g"], "filters": ["t/#"]}}
    with lapwing.Broker(shards=shards, groups=groups) as broker:
        publish(broker, *(b"%d" % n for n in range(30)))
        had = []
        for _ in range(3):
            stalls = Hand.joins(broker.url, "stalls")
            messages, reason = stalls.last_words()
            assert reason == ADMINISTRATIVE_ACTION
            had.append(len(messages))
        assert had[2] < had[0], had
        with Hand.joins(broker.url, "works") as works, Hand.joins(broker.url, "stalls") as again:
            works.work()
            until(lambda: member(broker, "stalls")["presence"] == "here")
            assert member(broker, "stalls")["is_closed"]
            assert again.pending() == []
            until_counted(broker, acknowledged=30, kicks=3)


def test_the_kicked_one_may_be_alone(shards):
    """Nobody else is there: is its work kept for it, and finished by it when it comes back?"""
    with lapwing.Broker(shards=shards, groups=HASTY) as broker:
        stalls = Hand.joins(broker.url, "c")
        publish(broker, b"m")
        assert stalls.dismissed() == ADMINISTRATIVE_ACTION
        with Hand.joins(broker.url, "c", share=None) as again:
            assert again.takes(1) == [b"m"]
        until_counted(broker, acknowledged=1, kicks=1)


def test_qos_2_that_has_begun_stays_with_the_stalled_one(shards):
    """Is a message of QoS 2 that a stalled member has seen kept for it, whoever else is there?"""
    with lapwing.Broker(shards=shards, groups=HASTY) as broker:
        stalls = Hand.joins(broker.url, "stalls", qos=2)
        publish(broker, b"m", qos=2)
        (message,) = stalls.messages(1)
        with Hand.joins(broker.url, "works", qos=2) as works:
            assert stalls.dismissed() == ADMINISTRATIVE_ACTION
            assert works.pending() == []
            assert group(broker)["unacknowledged"] == 1
            with Hand.joins(broker.url, "stalls", share=None) as again:
                (repeated,) = again.messages(1)
                assert (repeated.payload, repeated.packet_id) == (b"m", message.packet_id)
                again.finishes(repeated)
                until_counted(broker, acknowledged=1, moved=0)


def test_reports_are_a_sign_of_life(shards):
    """Does a member stay that says it is at work, with its message far longer overdue than is borne?"""
    with (
        lapwing.Broker(shards=shards, groups=CALM) as broker,
        Hand.joins(broker.url, "c", properties=said(ack="processed")) as busy,
    ):
        publish(broker, b"m")
        (message,) = busy.messages(1)
        for _ in range(70):
            busy.report(queue=1, service_us=60_000_000, qos=1)
            with pytest.raises(TimeoutError):
                busy.receive(timeout_s=0.05)
        busy.finishes(message)
        until_counted(broker, acknowledged=1, kicks=0)
