"""Messages that wait for their first subscriber, with a broker in this process and paho's clients."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

import pytest
from receivers import Receiver, connected, eventually, publish

from lapwing import Broker
from lapwing.errors import ConfigError

FIVE = [("h/1", "a"), ("h/2", "b"), ("h/1", "c"), ("h/3", "d"), ("h/2", "e")]


@pytest.fixture(params=[1, 3])
def broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    """One with a hold on ``h/#``."""
    with Broker(hold={"h/#": {}}, shards=request.param) as broker:
        yield broker


def number(broker: Broker, metric: str, labels: str = "") -> int:
    """A metric of the holds, all filters together."""
    found = re.findall(rf"^lapwing_hold_{metric}{{.*{labels}.*}} (\d+)$", broker.metrics_text(), re.MULTILINE)
    return sum(map(int, found))


def has_exactly(receiver: Receiver, payloads: set[str]) -> bool:
    """These have come, in any order, and no others."""
    return set(receiver.payloads) == payloads


def test_the_first_subscriber_gets_what_waits_once_and_in_order(broker: Broker) -> None:
    publish(broker.url, *FIVE)
    eventually("all are counted", lambda: number(broker, "messages_received_total") == 5)
    with connected(broker.url, "first") as first, connected(broker.url, "second") as second:
        first.subscribe("h/#")
        first.expect("abcde")
        second.subscribe("h/#")
        publish(broker.url, ("h/1", "live"))
        second.expect(["live"])
        first.expect([*"abcde", "live"])
    eventually("nothing waits", lambda: number(broker, "waiting_messages") == 0)
    assert number(broker, "messages_released_total") == 6


def test_what_the_first_did_not_ask_for_waits_for_the_next(broker: Broker) -> None:
    """Who comes while messages are on their way to another one may get them too: the second comes behind that."""
    publish(broker.url, *FIVE)
    with connected(broker.url, "one") as one, connected(broker.url, "two") as two:
        one.subscribe("h/1")
        one.expect("ac")
        two.subscribe("h/+")
        two.expect("bde")
        assert one.payloads == ["a", "c"]


def test_a_group_that_comes_first_has_it(broker: Broker) -> None:
    publish(broker.url, *FIVE)
    with connected(broker.url, "member") as member, connected(broker.url, "late") as late:
        member.subscribe("$share/crew/h/#")
        member.expect("abcde")
        late.subscribe("h/#")
        late.expect([])


def test_a_session_that_outlives_its_connection_has_it_while_away(broker: Broker) -> None:
    with connected(broker.url, "sleeper", lasting=True) as sleeper:
        sleeper.subscribe("h/#")
    publish(broker.url, *FIVE)
    with connected(broker.url, "other") as other:
        other.subscribe("h/#")
        other.expect([])
    with connected(broker.url, "sleeper", lasting=True) as sleeper:
        sleeper.expect("abcde")


def test_retained_and_qos_0_go_their_own_way(broker: Broker) -> None:
    """A retained message is the topic's value for every subscriber; what waits is for the first."""
    publish(broker.url, ("h/1", "lost"), qos=0)
    publish(broker.url, ("h/1", "value"), retain=True)
    publish(broker.url, ("h/1", "waits"))
    for name, expected in (("first", {"value", "waits"}), ("second", {"value"})):
        with connected(broker.url, name) as receiver:
            receiver.subscribe("h/1")
            eventually("both", partial(has_exactly, receiver, expected))
            assert [message.payload for message in receiver.got if message.retain] == [b"value"]


@pytest.mark.parametrize(("overflow", "left"), [("drop-oldest", "de"), ("drop-newest", "ab")])
def test_more_than_the_bound_gives_way(overflow: str, left: str) -> None:
    with Broker(hold={"h/#": {"messages": 2, "overflow": overflow}}, shards=2) as broker:
        publish(broker.url, *FIVE)
        eventually("three are counted", lambda: number(broker, "messages_dropped_total", "overflow") == 3)
        with connected(broker.url, "first") as first:
            first.subscribe("h/#")
            first.expect(left)


def test_what_has_waited_too_long_goes() -> None:
    with Broker(hold={"h/#": {"expiry": "100ms"}, "h/slow": {}}, shards=2) as broker:
        publish(broker.url, ("h/1", "a"), ("h/slow", "b"))
        eventually("one expires", lambda: number(broker, "messages_dropped_total", "expired") == 1)
        with connected(broker.url, "first") as first:
            first.subscribe("h/#")
            first.expect("b")


def test_without_a_table_nothing_waits() -> None:
    with Broker() as broker:
        publish(broker.url, *FIVE)
        assert "lapwing_hold_" not in broker.metrics_text()
        with connected(broker.url, "first") as first:
            first.subscribe("h/#")
            first.expect([])


def test_a_table_that_cannot_hold_is_refused() -> None:
    for table, words in (
        ({"$SYS/#": {}}, "without [$]"),
        ({"h/#": {"messages": 0}}, "greater than or equal to 1"),
        ({"h/#": {"durability": "disk"}}, 'broker.durability is "memory"'),
    ):
        with pytest.raises(ConfigError, match=words):
            Broker(hold=table)
