"""Work that is too late: delivered, dropped or a dead letter; and who is told of a miss."""

from __future__ import annotations

import json
import struct
import time
from typing import Any

import pytest
import wire
from crew import SHARES, Hand, pairs, publish, until_counted
from members import NEVER_STALLED, groups, said, user_properties

import lapwing

pytestmark = pytest.mark.parametrize("shards", SHARES)
LATE = {"filters": ["t/#"], "dead_letter_topic": "dead/t", "missed_topic": "missed/t", **NEVER_STALLED}


def too_late(shards: int, **settings: object) -> lapwing.Broker:
    return lapwing.Broker(shards=shards, groups={"g": {**LATE, **settings}})


@pytest.mark.parametrize(("expired", "counted"), [("deliver", {}), ("drop", {"deadline_passed": 1})])
def test_late_work_is_delivered_or_dropped(shards, expired, counted):
    """A deadline that passes while nobody is there: what is counted, and does the next member get it?"""
    with too_late(shards, expired=expired) as broker:
        publish(broker, b"late", properties=said(deadline_ms=50))
        publish(broker, b"in time", properties=said(deadline_ms=3_600_000))
        if counted:
            until_counted(broker, dropped=counted, expired=1, missed=1)
        else:
            until_passed(0.06)
        with Hand.joins(broker.url, "c") as only:
            if counted:
                assert only.takes(1) == [b"in time"]
            else:
                assert only.takes(2) == [b"late", b"in time"]
            until_counted(broker, missed=1, dropped=counted)


def until_passed(seconds: float) -> None:
    """The time itself is what is looked for."""
    until = time.monotonic() + seconds
    wire.until(lambda: time.monotonic() > until)


@pytest.mark.parametrize("qos", [1, 2])
def test_a_dead_letter_has_everything(shards, qos):
    """Payload, QoS and the publisher's properties but the deadline, and why, of which group, from where, how old."""
    with too_late(shards, expired="dead-letter") as broker, Hand.joins(broker.url, "reader", "dead/#", qos=2) as reader:
        mine = user_properties(("site", "north"), ("site", "south"), ("lapwing-priority", "critical"))
        publish(broker, b"late", topic="t/fire", qos=qos, properties=mine + said(deadline_ms=50))
        (letter,) = reader.messages(1)
        assert (letter.topic, letter.payload, letter.qos, letter.retain) == ("dead/t", b"late", qos, False)
        told = pairs(letter)
        assert told[:3] == [("site", "north"), ("site", "south"), ("lapwing-priority", "critical")]
        assert told[3:6] == [("lapwing-reason", "deadline_passed"), ("lapwing-group", "g"), ("lapwing-topic", "t/fire")]
        name, age_ms = told[6]
        assert (name, len(told)) == ("lapwing-age-ms", 7)
        assert 50 <= int(age_ms) < 10_000
        until_counted(broker, dead_lettered={"deadline_passed": 1}, missed=1, missed_critical=1, dropped={})


@pytest.mark.parametrize("expiry_s", [0, 1])
def test_a_message_that_expires_is_a_dead_letter_too(shards, expiry_s):
    """Message Expiry Interval: is the reason another one, and does the letter itself live on without it?"""
    with too_late(shards, expired="dead-letter") as broker, Hand.joins(broker.url, "reader", "dead/#") as reader:
        publish(broker, b"late", properties=b"\x02" + struct.pack("!I", expiry_s))
        (letter,) = reader.messages(1)
        names = ["lapwing-reason", "lapwing-group", "lapwing-topic", "lapwing-age-ms"]
        assert [name for name, _ in pairs(letter)] == names
        assert pairs(letter)[0][1] == "message_expired"
        until_counted(broker, dead_lettered={"message_expired": 1}, missed=0)


def test_a_miss_is_told(shards):
    """As JSON with everything that the seam names: of who was too late, and of what ended while it waited."""
    with too_late(shards, expired="drop") as broker, Hand.joins(broker.url, "reader", "missed/#") as reader:
        publish(broker, b"late", topic="t/fire", properties=said(deadline_ms=50, priority="critical"))
        (waited,) = reader.messages(1)
        told = json.loads(waited.payload)
        assert (waited.qos, told["client_id"], told["lane"], told["deadline_ms"]) == (0, None, "critical", 50)
        with Hand.joins(broker.url, "c", properties=said(ack="processed")) as worker:
            publish(broker, b"slow", topic="t/slow", properties=said(deadline_ms=100))
            (message,) = worker.messages(1)
            until_passed(0.11)
            worker.finishes(message)
            (finished,) = reader.messages(1)
        told = json.loads(finished.payload)
        expected: dict[str, Any] = {"group": "g", "filter": "t/#", "topic": "t/slow", "client_id": "c", "lane": "bulk"}
        assert expected.items() <= told.items()
        assert set(told) == {*expected, "message_id", "deadline_ms", "took_ms", "at_us"}
        assert told["message_id"] is None
        assert told["deadline_ms"] == 100
        assert told["took_ms"] > 100
        until_counted(broker, missed=2, missed_critical=1, acknowledged=1)


def test_a_dead_letter_cannot_loop(shards):
    """A group takes its own dead letters, and a rule makes all of them late: do they end under a name?"""
    late = {"rules": [{"topics": ["#"], "deadline": "20ms"}], "expired": "dead-letter", **NEVER_STALLED}
    with lapwing.Broker(shards=shards, groups={"g": {**late, "dead_letter_topic": "t/dead"}}) as broker:
        Hand.joins(broker.url, "c").goes()
        with Hand.joins(broker.url, "reader", "t/dead") as reader:
            publish(broker, b"m")
            reader.messages(1)
            until_counted(broker, published=2)
            until_passed(0.2)
            assert reader.pending() == []
            until_counted(broker, published=2)
            wire.until(lambda: broker.metrics()[dropped("dead_letter_loop")] == 1)


def test_dead_letters_cannot_loop_between_groups(shards):
    """Two groups, each takes the other's dead letters: does a letter see each of them once?"""
    late = {"rules": [{"topics": ["#"], "deadline": "20ms"}], "expired": "dead-letter", **NEVER_STALLED}
    settings = {
        "g": {**late, "filters": ["t/#"], "dead_letter_topic": "u/dead"},
        "h": {**late, "filters": ["u/#"], "dead_letter_topic": "t/dead"},
    }
    with lapwing.Broker(shards=shards, groups=settings) as broker:
        publish(broker, b"m")
        wire.until(lambda: broker.metrics()[dropped("dead_letter_loop")] == 1)
        counted = {one["name"]: one["counters"]["published"] for one in groups(broker)}
        assert counted == {"g": 2, "h": 1}


def test_what_a_publisher_says_of_groups_is_no_letter(shards):
    """A message expires that has a letter's properties from its publisher, as one that is tried again: a letter?"""
    told = user_properties(("lapwing-reason", "deadline_passed"), ("lapwing-group", "g"), ("lapwing-topic", "t/a"))
    with (
        too_late(shards, expired="dead-letter") as broker,
        Hand.joins(broker.url, "reader", "dead/t") as reader,
    ):
        publish(broker, b"again", properties=told + said(deadline_ms=20))
        assert reader.takes(1) == [b"again"]
        until_counted(broker, dead_lettered={"deadline_passed": 1})
        assert broker.metrics()[dropped("dead_letter_loop")] == 0


def dropped(reason: str) -> str:
    return f'lapwing_messages_dropped_total{{reason="{reason}"}}'


def test_a_miss_of_a_miss_is_not_told(shards):
    """A group takes its own misses, and a rule makes all of them late: is each told once, and they not?"""
    table = {
        "rules": [{"topics": ["#"], "deadline": "1ms"}],
        "missed_topic": "t/missed",
        "expired": "drop",
        **NEVER_STALLED,
    }
    with lapwing.Broker(shards=shards, groups={"g": table}) as broker:
        Hand.joins(broker.url, "c").goes()
        with Hand.joins(broker.url, "reader", "t/missed") as reader:
            publish(broker, b"m")
            reader.messages(1)
            until_counted(broker, published=2)
            assert reader.pending() == []
