"""Reason Strings of refusals: told where they fit into the client's packets, and not to a client that wants none."""

from __future__ import annotations

import pytest
import wire
from peer import properties, properties_of
from wire import CONNACK, PUBACK, PUBREC, SUBACK

import lapwing
from lapwing.hooks import Connect, Hooks, Message, Refuse, Subscription

WHY = "words that would not fit everywhere"


class Refuses(Hooks):
    """Whatever is published or subscribed to, and who has a user name, with words."""

    def on_publish(self, message: Message) -> Refuse:
        return Refuse(0x99, WHY)

    def on_subscribe(self, subscription: Subscription) -> Refuse:
        return Refuse(0x87, WHY)

    def on_connect(self, connect: Connect) -> Refuse | None:
        return None if connect.username is None else Refuse(0x87, WHY)


@pytest.fixture(scope="module")
def broker():
    with lapwing.Broker(shards=2, hooks=Refuses()) as broker:
        yield broker


REFUSED = pytest.mark.parametrize(
    ("kind", "packet"),
    [(PUBACK, wire.publish("t", qos=1)), (PUBREC, wire.publish("t", qos=2)), (SUBACK, wire.subscribe("t"))],
    ids=["PUBACK", "PUBREC", "SUBACK"],
)


def answer(join, kind, packet, **section):
    """The broker's refusal, for a client with these properties of CONNECT: its length and the words in it."""
    peer = join(None, properties=properties(**section))
    peer.send(packet)
    found = peer.expect(kind)
    return len(wire.packet(found.first, found.body)), properties_of(found).get("reason_string", [])


def are_told_from_some_size_on(join, answered):
    """Asks with more and more room: the words are left out until they fit, and no answer is larger than it may be."""
    connack = join().connack
    shortest = len(wire.packet(connack.first, connack.body))
    sizes = range(shortest, shortest + len(WHY) + 60, 5)
    words = []
    for size in sizes:
        length, told = answered(size)
        assert length <= size
        words.append(told)
    assert words[0] == []
    assert words[-1] == [WHY]
    assert words == sorted(words, key=len), "once they fit, they fit into more"


@pytest.mark.statement(
    5, "MQTT-3.4.2-2", "MQTT-3.4.2-3", "MQTT-3.5.2-2", "MQTT-3.5.2-3", "MQTT-3.9.2-1", "MQTT-3.9.2-2", "MQTT-3.1.2-24"
)
@REFUSED
def test_a_refusal_keeps_to_the_size(join, version, kind, packet):
    are_told_from_some_size_on(join, lambda size: answer(join, kind, packet, maximum_packet_size=size))


@pytest.mark.statement(5, "MQTT-3.2.2-19", "MQTT-3.1.2-24")
def test_a_refused_connect_keeps_to_the_size(raw, join, version, name):
    def refused(size):
        peer = raw()
        peer.send(wire.connect(name, username="nobody", properties=properties(maximum_packet_size=size)))
        (found,) = peer.until_end()
        assert (found.kind, found.reason) == (CONNACK, 0x87)
        return len(wire.packet(found.first, found.body)), properties_of(found).get("reason_string", [])

    are_told_from_some_size_on(join, refused)


@pytest.mark.statement(5, "MQTT-3.1.2-29")
@REFUSED
def test_no_reasons_for_a_client_that_wants_none(join, version, kind, packet):
    """And the same refusal has its words for one that does."""
    assert answer(join, kind, packet, request_problem_information=0)[1] == []
    assert answer(join, kind, packet, request_problem_information=1)[1] == [WHY]
