"""Declared groups: there from the start, kept without members, changed under load, ended by command or by time."""

from __future__ import annotations

import json

import pytest
from crew import SHARES, TIGHT, Hand, publish, until_counted, until_group
from members import NEVER_STALLED, groups, member
from wire import until

import lapwing
from lapwing import _core

pytestmark = pytest.mark.parametrize("shards", SHARES)
DECLARED = {"g": {"filters": ["t/#"], **NEVER_STALLED}}


def put(broker: lapwing.Broker, name: str = "g", **table: object) -> None:
    broker._running().put_group(name, json.dumps(table))


def tables(broker: lapwing.Broker) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = json.loads(broker._running().group_settings_json())
    return found


@pytest.mark.parametrize("qos", [0, 1, 2])
def test_it_keeps_what_comes_before_its_first_member(shards, qos):
    with lapwing.Broker(shards=shards, groups=DECLARED) as broker:
        publish(broker, b"0", b"1", qos=qos)
        if qos == 0:
            until_counted(broker, published=2, dropped={"group_empty": 2})
            return
        with Hand.joins(broker.url, "c", qos=2) as first:
            assert first.takes(2) == [b"0", b"1"]
        until_counted(broker, acknowledged=2)


def test_it_outlives_its_last_session(shards):
    """Its only member's session ends: is the work kept for the next one, what was under way too?"""
    with lapwing.Broker(shards=shards, groups=DECLARED) as broker:
        with Hand.joins(broker.url, "first", expiry_s=0) as first:
            publish(broker, b"0", b"1")
            first.messages(2)
        until_group(broker, lambda found: found["members"] == [] and found["waiting_bulk"] == 2)
        with Hand.joins(broker.url, "second") as second:
            assert second.takes(2) == [b"0", b"1"]


def test_it_is_there_before_anybody_can_connect(shards):
    """Started again and again: is the very first message of the first client kept, on whichever shard?"""
    names = [f"p{n}" for n in range(6)]
    for _ in range(10):
        with lapwing.Broker(shards=shards, groups=DECLARED) as broker:
            for name in names:
                publish(broker, b"m", client_id=name)
            until_counted(broker, published=len(names))


def test_it_begins_and_ends_by_command(shards):
    """Put while it runs, removed with work waiting: is all of it dropped by name, and the group gone?"""
    with lapwing.Broker(shards=shards) as broker:
        put(broker, filters=["t/#", "u"])
        until(lambda: len(groups(broker)) == 2)
        publish(broker, b"m")
        publish(broker, b"n", topic="u")
        until(lambda: [one["waiting_bulk"] for one in groups(broker)] == [1, 1])
        assert broker._running().remove_group("g")
        until(lambda: groups(broker) == [])
        assert not broker._running().remove_group("g")


def test_removed_it_lives_as_long_as_its_members(shards):
    """With a member at work: does it finish what there is, and does the group end with it?"""
    with lapwing.Broker(shards=shards, groups=DECLARED) as broker:
        with Hand.joins(broker.url, "c", expiry_s=0) as only:
            publish(broker, b"0", b"1", b"2")
            assert broker._running().remove_group("g")
            until_group(broker, lambda found: not found["is_durable"])
            assert only.takes(3) == [b"0", b"1", b"2"]
        until(lambda: groups(broker) == [])


def test_it_ends_by_time_when_nobody_wants_it(shards):
    """With members, or with work, or just left: only without both for so long is it gone?"""
    with lapwing.Broker(shards=shards, groups={"g": {**DECLARED["g"], "expiry": "2s"}}) as broker:
        publish(broker, b"m")
        until_group(broker, lambda found: found["oldest_ms"] is not None and found["oldest_ms"] > 4_000)
        with Hand.joins(broker.url, "c", expiry_s=0) as only:
            assert only.takes(1) == [b"m"]
        until(lambda: groups(broker) == [])
        with Hand.joins(broker.url, "c", expiry_s=0):
            assert until_group(broker, lambda found: True)["is_durable"]


STRATEGIES = ("lef", "round-robin", "key-ordered", "hash-topic", "sticky", "c3", "auto")


def test_strategies_change_under_load_and_nothing_is_lost(shards):
    """Every few messages another strategy, bound or default, with two members at work: is each finished once?"""
    with (
        lapwing.Broker(shards=shards, groups=DECLARED, limits=TIGHT) as broker,
        Hand.joins(broker.url, "a") as a,
        Hand.joins(broker.url, "b", qos=2) as b,
    ):
        a.work(0.001)
        finished = []
        for number, strategy in enumerate(STRATEGIES * 2):
            put(
                broker,
                filters=["t/#"],
                strategy=strategy,
                workers=1 + number % 4,
                parameters={"window": 1 + number, **NEVER_STALLED["parameters"]},
            )
            publish(broker, *(b"%d" % n for n in range(20)), client_id=f"p{number}")
            finished += [found.payload for found in b.pending() if not b.finishes(found)]
            until_group(broker, lambda found, strategy=strategy: found["strategy"] == strategy)
        b.work(0.001)
        until_counted(broker, published=280, acknowledged=280, dropped={}, kicks=0)


def test_narrower_bounds_hold_at_once(shards):
    with lapwing.Broker(shards=shards, groups=DECLARED) as broker:
        publish(broker, *(b"%d" % n for n in range(10)))
        until_group(broker, lambda found: found["waiting_bulk"] == 10)
        put(broker, filters=["t/#"], queue_messages_max=3, overflow="drop-newest")
        until_counted(broker, dropped={"queue_full": 7})
        with Hand.joins(broker.url, "c") as only:
            assert only.takes(3) == [b"0", b"1", b"2"]


def test_members_that_say_nothing_get_new_defaults(shards):
    """`workers` and `acknowledges` of the table change: do they hold for who is there already?"""
    with lapwing.Broker(shards=shards, groups=DECLARED) as broker, Hand.joins(broker.url, "c") as only:
        put(
            broker,
            filters=["t/#"],
            acknowledges="processed",
            workers=1,
            parameters={"window": 1, "window_backlog": 0, **NEVER_STALLED["parameters"]},
        )
        until(lambda: tables(broker)["g"]["acknowledges"] == "processed")
        publish(broker, *(b"%d" % n for n in range(40)))
        few = len(only.pending())
        put(
            broker,
            filters=["t/#"],
            acknowledges="processed",
            workers=8,
            parameters={"window": 1, "window_backlog": 0, **NEVER_STALLED["parameters"]},
        )
        until(lambda: member(broker, "c")["inflight"] > few)
        assert few + len(only.pending()) <= 40


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({"strategy": "fastest"}, "round-robin"),
        ({"parameters": {"windows": 3}}, "window_critical"),
        ({"parameters": {"window": 0}}, "1 to 1000"),
        ({"expired": "dead-letter"}, "dead_letter_topic"),
        ({"filters": ["t/#"], "missed_topic": "t/missed"}, "t/#"),
        ({"filters": ["t#"]}, "t#"),
        ({"filters": ["t", "t"]}, "twice"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_wrong_table_is_refused_and_changes_nothing(shards, table, says):
    with lapwing.Broker(shards=shards, groups=DECLARED) as broker:
        before = tables(broker)
        with pytest.raises(_core.CoreError) as refused:
            put(broker, **table)
        assert says in str(refused.value)
        assert tables(broker) == before
        publish(broker, b"m")
        assert until_group(broker, lambda found: found["waiting_bulk"] == 1)["strategy"] == "auto"
