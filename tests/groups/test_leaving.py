"""Members that leave a group, come back to it on other terms, or lose the right to it, with messages under way."""

from __future__ import annotations

from pathlib import Path

import pytest
import wire
from crew import SHARES, TIGHT, Hand, publish, refusal, until_counted, until_group, until_presence
from members import NEVER_STALLED, UNHURRIED, group, groups

import lapwing
from lapwing.config import Config

pytestmark = pytest.mark.parametrize("shards", SHARES)
SHARE = "$share/g/t/#"


@pytest.mark.statement(5, "MQTT-3.10.4-2", "MQTT-3.10.4-3")
def test_nothing_new_comes_after_unsuback(shards):
    """With messages under way: do they stay with who has them, and does every new one reach the others?"""
    with (
        lapwing.Broker(shards=shards, limits=TIGHT, groups=UNHURRIED) as broker,
        Hand.joins(broker.url, "leaver") as leaver,
        Hand.joins(broker.url, "stays") as stays,
    ):
        publish(broker, *(b"before%d" % n for n in range(4)))
        until_group(broker, lambda found: found["unacknowledged"] == 4)
        leaver.leaves(SHARE)
        had = leaver.pending()
        assert 0 < len(had) < 4
        publish(broker, *(b"after%d" % n for n in range(4)))
        taken = stays.takes(8 - len(had))
        assert leaver.pending() == []
        until_presence(broker, "leaver", "leaving")
        for message in had:
            leaver.finishes(message)
        until_presence(broker, "leaver", None)
        everything = {message.payload for message in had} | set(taken)
        assert len(everything) == 8
        until_counted(broker, published=8, acknowledged=8, moved=0)


def test_who_has_left_and_is_lost_gives_back(shards):
    """Is a message that a leaving member never acknowledged finished by another?"""
    with lapwing.Broker(shards=shards, groups=UNHURRIED) as broker, Hand.joins(broker.url, "leaver") as leaver:
        publish(broker, b"m")
        leaver.messages(1)
        with Hand.joins(broker.url, "stays") as stays:
            leaver.leaves(SHARE)
            assert stays.pending() == []
            leaver.goes()
            assert stays.takes(1) == [b"m"]
        until_presence(broker, "leaver", None)


def test_who_has_left_may_refuse(shards):
    with lapwing.Broker(shards=shards, groups=UNHURRIED) as broker, Hand.joins(broker.url, "leaver") as leaver:
        publish(broker, b"m")
        (message,) = leaver.messages(1)
        with Hand.joins(broker.url, "stays") as stays:
            leaver.leaves(SHARE)
            leaver.send(refusal(wire.PUBACK, message.packet_id))
            until_counted(broker, refused=1)
            assert stays.pending() == []


@pytest.mark.parametrize("rounds", [20])
def test_leaving_and_joining_at_once_loses_nothing(shards, rounds):
    """UNSUBSCRIBE and SUBSCRIBE in one write, while messages are published: is each finished once?"""
    with (
        lapwing.Broker(shards=shards, limits=TIGHT, groups={"g": {"filters": ["t/#"], **NEVER_STALLED}}) as broker,
        Hand.joins(broker.url, "c") as restless,
        wire.Wire.client(broker.url, "publisher") as publisher,
    ):
        for number in range(1, rounds + 1):
            publisher.send(wire.publish("t/a", b"%d" % number, qos=1, packet_id=number))
            restless.send(wire.unsubscribe(SHARE), wire.subscribe((SHARE, 1)))
        finished: list[bytes] = []
        while len(finished) < rounds:
            found = restless.receive()
            assert found is not None
            if found.kind == wire.PUBLISH:
                finished.append(found.payload)
                restless.finishes(found)
        assert sorted(finished, key=int) == [b"%d" % number for number in range(1, rounds + 1)]
        until_counted(broker, published=rounds, acknowledged=rounds)


@pytest.mark.statement(5, "MQTT-4.8.2-3", "MQTT-3.8.4-8")
def test_another_qos_holds_for_what_comes_after(shards):
    """Subscribed again with QoS 2, then 0: has each message the lesser of its own and the last one granted?"""
    with lapwing.Broker(shards=shards, groups=UNHURRIED) as broker, Hand.joins(broker.url, "c", qos=1) as only:
        publish(broker, b"one", qos=2)
        (one,) = only.messages(1)
        assert only.asks((SHARE, 2)) == b"\2"
        publish(broker, b"two", qos=2)
        (two,) = only.messages(1)
        assert only.asks((SHARE, 0)) == b"\0"
        publish(broker, b"zero", qos=2)
        (zero,) = only.messages(1)
        assert (one.qos, two.qos, zero.qos) == (1, 2, 0)
        for message in (one, two, zero):
            only.finishes(message)
        until_counted(broker, published=3, acknowledged=2, unacknowledged=1)
        assert [one["client_id"] for one in group(broker)["members"]] == ["c"]


@pytest.fixture
def users(tmp_path: Path) -> Path:
    """A users file in which nobody is named: everybody is anonymous."""
    path = tmp_path / "users.toml"
    path.write_text("")
    return path


def rules(broker: lapwing.Broker, *topics: str) -> None:
    """Lets everybody publish anything, and subscribe to these."""
    anybody = {"identity": "anonymous"}
    broker.reload(
        Config(
            rules=[
                {**anybody, "may": ["publish"], "topics": ["#"]},
                {**anybody, "may": ["subscribe"], "topics": list(topics)},
            ]
        )
    )


def test_who_loses_the_right_gets_nothing_more(shards):
    """Connected and not: is a revoked subscription's group left, and does the other member get what comes?"""
    with (
        lapwing.Broker(shards=shards, groups=UNHURRIED) as broker,
        Hand.joins(broker.url, "stays", "$share/g/u") as other,
    ):
        here = Hand.joins(broker.url, "here")
        away = Hand.joins(broker.url, "away")
        away.goes()
        until_group(broker, lambda found: len(found["members"]) == 2, "g")
        publish(broker, b"before")
        (had,) = here.messages(1)
        rules(broker, "u")
        wire.until(lambda: broker.metrics()["lapwing_rights_revoked_total"] == 2)
        publish(broker, b"after")
        assert here.pending() == []
        here.finishes(had)
        publish(broker, b"for-u", topic="u")
        assert other.takes(1) == [b"for-u"]
        wire.until(lambda: [one["filter"] for one in groups(broker)] == ["u"])
