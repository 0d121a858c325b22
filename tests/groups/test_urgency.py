"""Deadline and priority: what a publisher says of its messages, and what a group's rules say for those that cannot."""

from __future__ import annotations

import time

import pytest
from members import IGNORED, NEVER_STALLED, UNHURRIED, Member, counted, group, publish, said, user_properties
from wire import until

import lapwing
from lapwing.config import Config

CRITICAL = said(priority="critical")


def order_of(consumer: Member, count: int) -> list[bytes]:
    """The payloads in the order in which a member gets them that takes one at a time."""
    payloads = []
    for _ in range(count):
        (message,) = consumer.messages(1)
        payloads.append(message.payload)
        consumer.acknowledge(message)
    return payloads


def overtaken(broker: lapwing.Broker, *, topic: str = "t/a", properties: bytes = CRITICAL) -> bool:
    """Whether a message said to be critical is done before those that wait already."""
    with Member.of(broker.url, "c", receive_max=1) as consumer:
        publish(broker, b"first", b"bulk1", b"bulk2")
        publish(broker, b"critical", topic=topic, properties=properties)
        until(lambda: bool(group(broker)["counters"]["published"] == 4))
        order = order_of(consumer, 4)
    assert order in ([b"first", b"critical", b"bulk1", b"bulk2"], [b"first", b"bulk1", b"bulk2", b"critical"])
    return order[1] == b"critical"


@pytest.mark.parametrize(
    ("properties", "overtakes"),
    [(CRITICAL, True), (said(priority="bulk"), False), (b"", False), (said(priority="Critical"), False)],
)
def test_critical_overtakes_bulk(properties, overtakes):
    with lapwing.Broker(shards=2, groups=UNHURRIED) as broker:
        assert overtaken(broker, properties=properties) == overtakes


def test_a_rule_speaks_for_who_cannot():
    """Does a rule by topic make a message critical that says nothing, and does the publisher's word go before it?"""
    groups = {"g": {"rules": [{"topics": ["t/fire/+"], "priority": "critical"}], **NEVER_STALLED}}
    for properties, overtakes in ((b"", True), (said(priority="bulk"), False)):
        with lapwing.Broker(shards=2, groups=groups) as broker:
            assert overtaken(broker, topic="t/fire/7", properties=properties) == overtakes


def test_the_names_are_settings(tmp_path):
    section = {"listen": "tcp://127.0.0.1:0", "http": None, "data": tmp_path}
    dispatch = {"priority_property": "prio", "deadline_property": "ttl"}
    for properties, overtakes in ((user_properties(("prio", "critical")), True), (CRITICAL, False)):
        with lapwing.Broker.from_config(Config(broker=section, dispatch=dispatch, groups=UNHURRIED)) as broker:  # type: ignore[arg-type]
            assert overtaken(broker, properties=properties) == overtakes


def late(broker: lapwing.Broker, properties: bytes, topic: str = "t/a") -> tuple[int, int]:
    """Misses, and critical misses, that a group counts after a message took 60 ms."""
    with Member.of(broker.url, "c", declares=said(ack="processed")) as consumer:
        publish(broker, b"m", properties=properties, topic=topic)
        (message,) = consumer.messages(1)
        time.sleep(0.06)
        consumer.acknowledge(message)
        until(lambda: bool(group(broker)["counters"]["acknowledged"] == 1))
        counters = group(broker)["counters"]
    return counters["missed"], counters["missed_critical"]


@pytest.mark.parametrize(
    ("properties", "misses"),
    [
        (said(deadline_ms=20), (1, 0)),
        (said(deadline_ms=20, priority="critical"), (1, 1)),
        (said(deadline_ms=60_000), (0, 0)),
        (b"", (0, 0)),
    ],
)
def test_a_deadline_counts_from_ingress(properties, misses):
    with lapwing.Broker(shards=2, groups=UNHURRIED) as broker:
        assert late(broker, properties) == misses


def test_a_rule_may_set_a_deadline():
    groups = {"g": {"rules": [{"topics": ["t/fire/#"], "deadline": "20ms"}], **NEVER_STALLED}}
    with lapwing.Broker(shards=2, groups=groups) as broker:
        assert late(broker, b"", "t/fire/1") == (1, 0)
    with lapwing.Broker(shards=2, groups=groups) as broker:
        assert late(broker, said(deadline_ms=60_000), "t/fire/1") == (0, 0)


@pytest.mark.parametrize("value", ["0", "86400001", "20ms", "-5", ""])
def test_a_wrong_deadline_is_none_and_counted(value):
    with lapwing.Broker(shards=2, groups=UNHURRIED) as broker, counted(broker, IGNORED, 1):
        assert late(broker, said(deadline_ms=value)) == (0, 0)


def test_the_properties_go_on_to_the_member():
    """Does a consumer see what the publisher said, as every user property?"""
    with lapwing.Broker(shards=2, groups=UNHURRIED) as broker, Member.of(broker.url, "c") as consumer:
        properties = said(deadline_ms=500, priority="critical")
        publish(broker, b"m", properties=properties)
        (message,) = consumer.messages(1)
        assert properties in message.body
