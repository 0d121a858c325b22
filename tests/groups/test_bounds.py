"""As many groups, and members of one, as are allowed: who is one too many is told so, filter by filter, and counted."""

from __future__ import annotations

import pytest
import wire
from crew import QUOTA_EXCEEDED, SHARES, Hand, publish, until_counted, until_group
from members import groups

import lapwing
from lapwing.config import Config

pytestmark = pytest.mark.parametrize("shards", SHARES)
REFUSED = "lapwing_subscriptions_refused_total"
SUBSCRIPTIONS = "lapwing_subscriptions"


def code(version: int) -> int:
    return QUOTA_EXCEEDED if version == 5 else 0x80


def bounded(shards: int, **bounds: int) -> lapwing.Broker:
    """A broker with other numbers in `[dispatch]`."""
    broker = {"listen": ["tcp://127.0.0.1:0"], "http": None, "shards": shards, "durability": "memory"}
    return lapwing.Broker.from_config(Config(broker=broker, dispatch=bounds))


def metric(broker: lapwing.Broker, name: str) -> float:
    return next(value for key, value in broker.metrics().items() if key.split("{")[0] == name)


@pytest.mark.parametrize("version", [4, 5])
def test_a_member_too_many_is_refused_its_filter_only(shards, version):
    """Among other filters of one SUBSCRIBE: refused in its place, the others granted, and nothing comes of it."""
    with (
        bounded(shards, members_per_group_max=1) as broker,
        Hand.joins(broker.url, "first") as first,
        Hand.joins(broker.url, "second", share=None, version=version) as second,
    ):
        before = metric(broker, REFUSED)
        asked = [("a", 0), ("$share/g/t/#", 1), ("b", 1), ("$share/h/t/#", 2)]
        assert list(second.asks(*asked)) == [0, code(version), 1, 2]
        wire.until(lambda: metric(broker, REFUSED) == before + 1)
        until_counted(broker, joins_refused=1)
        publish(broker, b"m")
        (message,) = second.messages(1)
        assert first.takes(1) == [b"m"]
        second.finishes(message)
        wire.until(lambda: metric(broker, SUBSCRIPTIONS) == 4)
        assert [len(one["members"]) for one in groups(broker)] == [1, 1]


@pytest.mark.statement(5, "MQTT-3.8.4-5", "MQTT-3.8.4-6", "MQTT-3.8.4-7")
@pytest.mark.parametrize("version", [4, 5])
def test_in_a_long_subscribe_each_has_its_own_answer(shards, version):
    """200 filters, done by parts: are exactly those refused that are one too many?"""
    with (
        bounded(shards, members_per_group_max=1) as broker,
        Hand.joins(broker.url, "first", share=None) as first,
        Hand.joins(broker.url, "second", share=None, version=version) as second,
    ):
        full = set(range(3, 200, 17))
        assert list(first.asks(*((f"$share/g/{n}", 1) for n in full))) == [1] * len(full)
        asked = [(f"$share/g/{n}" if n % 2 or n in full else f"p/{n}", n % 3) for n in range(200)]
        expected = [code(version) if n in full else n % 3 for n in range(200)]
        assert list(second.asks(*asked)) == expected
        wire.until(lambda: metric(broker, SUBSCRIPTIONS) == 200)


@pytest.mark.statement(5, "MQTT-3.8.4-7")
def test_the_same_filter_twice_is_refused_twice(shards):
    """One SUBSCRIBE with the same filter in two places: has each its refusal?"""
    with (
        bounded(shards, members_per_group_max=1) as broker,
        Hand.joins(broker.url, "first"),
        Hand.joins(broker.url, "second", share=None) as second,
    ):
        share = "$share/g/t/#"
        assert list(second.asks((share, 1), ("a", 1), (share, 2))) == [QUOTA_EXCEEDED, 1, QUOTA_EXCEEDED]
        wire.until(lambda: metric(broker, SUBSCRIPTIONS) == 2)


def test_who_is_a_member_may_change_its_terms(shards):
    """The group is full: may one of its members subscribe again, and another when one has left?"""
    with (
        bounded(shards, members_per_group_max=1) as broker,
        Hand.joins(broker.url, "first") as first,
        Hand.joins(broker.url, "second", share=None) as second,
    ):
        share = "$share/g/t/#"
        assert list(first.asks((share, 2))) == [2]
        assert list(second.asks((share, 1))) == [QUOTA_EXCEEDED]
        first.leaves(share)
        assert list(second.asks((share, 1))) == [1]
        assert list(first.asks((share, 1))) == [QUOTA_EXCEEDED]
        publish(broker, b"m")
        assert second.takes(1) == [b"m"]


def test_a_group_too_many_is_refused(shards):
    """As many as there may be, wherever they live: is one more refused, and room again when one has ended?"""
    most = 5
    with bounded(shards, groups_max=most) as broker, Hand.joins(broker.url, "c", share=None) as only:
        broker._running().put_group("declared", '{"filters": ["d"]}')
        wire.until(lambda: len(groups(broker)) == 1)
        codes = [only.asks((f"$share/g/{n}", 1))[0] for n in range(20)]
        assert codes == [1] * (most - 1) + [QUOTA_EXCEEDED] * (20 - most + 1)
        assert len(groups(broker)) == most
        only.leaves("$share/g/0")
        wire.until(lambda: len(groups(broker)) == most - 1)
        assert list(only.asks(("$share/g/19", 1), ("$share/g/18", 1))) == [1, QUOTA_EXCEEDED]


def test_asking_again_and_again_while_another_comes_and_goes(shards):
    """SUBSCRIBEs in one write, the group's only place taken and left meanwhile: what is granted last is what is so?"""
    with (
        bounded(shards, members_per_group_max=1) as broker,
        Hand.joins(broker.url, "stays", "$share/h/t/#"),
        Hand.joins(broker.url, "first") as first,
        Hand.joins(broker.url, "second", share=None) as second,
    ):
        share = "$share/g/t/#"
        for _ in range(30):
            for number in range(6):
                second.send(wire.subscribe((share, 1)))
                if number == 2:
                    first.send(wire.unsubscribe(share))
            first.answer(wire.UNSUBACK)
            codes = [second.answer(wire.SUBACK)[-1] for _ in range(6)]
            assert codes == sorted(codes, reverse=True)
            if codes[-1] == 1:
                publish(broker, b"m")
                assert second.takes(1) == [b"m"]
                until_group(broker, lambda found: found["unacknowledged"] == 0)
            second.leaves(share)
            assert list(first.asks((share, 1))) == [1]
