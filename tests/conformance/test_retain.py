"""Retained messages: kept, replaced, removed, and sent to whom they are due."""

from __future__ import annotations

import contextlib

import pytest
import wire
from peer import pass_time, properties, properties_of
from wire import PUBLISH, SUBACK

SHARDS = 1

RETAIN_AS_PUBLISHED, RETAIN_IF_NEW, RETAIN_NEVER = 0x08, 0x10, 0x20

QUIET_S = 0.3
"""For so long nothing more may come. It shows no more than that nothing was about to."""


@pytest.fixture
def replayed(join, name):
    """`replayed(peer, count, (filter, options))`: subscribes, and gives the retained messages that come for it.

    The marker says that replays are under way; what belongs to another subscription may still follow it, in any order:
    so many messages are waited for, and whether there are more.
    """
    join().publish(f"{name}-marker", b"marker", qos=1, retain=True)

    def run(peer, count, *filters):
        version = peer.version
        peer.send(wire.subscribe(*filters, packet_id=10, version=version))
        peer.send(wire.subscribe(f"{name}-marker", packet_id=11, version=version))
        found, is_marked = [], False
        with contextlib.suppress(TimeoutError):
            while True:
                packet = peer.receive(QUIET_S if is_marked and len(found) >= count else wire.TIMEOUT_S)
                assert packet.kind in (PUBLISH, SUBACK)
                if packet.kind == PUBLISH and packet.payload == b"marker":
                    is_marked = True
                elif packet.kind == PUBLISH:
                    found.append(packet)
        assert is_marked, "the marker did not come"
        return found

    return run


@pytest.mark.statement(4, "MQTT-3.3.1-5", "MQTT-3.3.1-6", "MQTT-3.3.1-7", "MQTT-3.3.1-8", "MQTT-3.8.4-6")
@pytest.mark.statement(5, "MQTT-3.3.1-5", "MQTT-3.3.1-9")
@pytest.mark.parametrize("qos", [0, 1, 2])
def test_the_last_retained_message_is_sent_to_new_subscribers(join, replayed, version, name, qos):
    publisher = join()
    publisher.publish(f"{name}/x", b"old", qos=1, retain=True)
    publisher.publish(f"{name}/x", b"new", qos=qos, retain=True)
    publisher.publish(f"{name}/y/z", b"other", qos=qos, retain=True)
    publisher.publish(f"{name}-after", b"QoS 0 has no answer, this has", qos=1)
    found = replayed(join(), 2, (f"{name}/#", 2))
    assert sorted((p.topic, p.payload, p.qos, p.retain) for p in found) == [
        (f"{name}/x", b"new", qos, True),
        (f"{name}/y/z", b"other", qos, True),
    ]


@pytest.mark.statement(4, "MQTT-3.3.1-9")
@pytest.mark.statement(5, "MQTT-3.3.1-12")
def test_retain_is_not_passed_on_to_a_subscription_that_was_there(join, version, name):
    peer = join()
    peer.subscribe_to((name, 1))
    join().publish(name, b"m", qos=1, retain=True)
    assert not peer.message(b"m").retain


@pytest.mark.statement(5, "MQTT-3.3.1-13")
def test_retain_as_published_passes_it_on(join, version, name):
    peer, publisher = join(), join()
    peer.subscribe_to((name, 1 | RETAIN_AS_PUBLISHED))
    for retain in (True, False, True):
        publisher.publish(name, b"m", qos=1, retain=retain)
        assert peer.message().retain == retain


@pytest.mark.statement(4, "MQTT-3.3.1-10", "MQTT-3.3.1-11")
@pytest.mark.statement(5, "MQTT-3.3.1-6", "MQTT-3.3.1-7")
@pytest.mark.parametrize("qos", [0, 1, 2])
def test_an_empty_message_is_passed_on_and_removes_what_was_retained(join, replayed, version, name, qos):
    live, publisher = join(), join()
    live.subscribe_to((name, 2))
    publisher.publish(name, b"kept", qos=1, retain=True)
    live.message(b"kept")
    publisher.publish(name, b"", qos=qos, retain=True)
    assert (live.message(b"").topic) == name
    assert replayed(join(), 0, (name, 0)) == []


@pytest.mark.statement(4, "MQTT-3.3.1-12")
@pytest.mark.statement(5, "MQTT-3.3.1-8")
@pytest.mark.parametrize("payload", [b"live", b""])
def test_without_retain_nothing_is_stored_or_removed(join, replayed, version, name, payload):
    publisher = join()
    publisher.publish(f"{name}/kept", b"kept", qos=1, retain=True)
    for topic in ("kept", "live"):
        publisher.publish(f"{name}/{topic}", payload, qos=1)
    assert [found.payload for found in replayed(join(), 1, (f"{name}/#", 0))] == [b"kept"]


@pytest.mark.statement(4, "MQTT-3.1.2-7")
@pytest.mark.statement(5, "MQTT-3.3.1-5")
def test_retained_messages_outlive_the_session_of_who_sent_them(join, replayed, version, name):
    publisher = join("a")
    publisher.publish(name, b"kept", qos=1, retain=True)
    publisher.leave()
    join("a", clean=True).leave()
    assert [found.payload for found in replayed(join(), 1, (name, 0))] == [b"kept"]


@pytest.mark.statement(4, "MQTT-3.8.4-3", "MQTT-3.3.1-8")
@pytest.mark.statement(5, "MQTT-3.3.1-9", "MQTT-3.8.4-4")
def test_the_same_subscription_again_gets_retained_messages_again(join, replayed, version, name):
    join().publish(name, b"kept", qos=1, retain=True)
    peer = join()
    for _ in range(2):
        assert [(found.payload, found.retain) for found in replayed(peer, 1, (name, 0))] == [(b"kept", True)]


@pytest.mark.statement(5, "MQTT-3.3.1-10")
def test_retain_handling_1_sends_them_to_new_subscriptions_only(join, replayed, version, name):
    join().publish(name, b"kept", qos=1, retain=True)
    peer = join()
    assert [found.payload for found in replayed(peer, 1, (name, RETAIN_IF_NEW))] == [b"kept"]
    assert replayed(peer, 0, (name, 1 | RETAIN_IF_NEW)) == []
    peer.send(wire.unsubscribe(name))
    peer.expect(wire.UNSUBACK)
    assert [found.payload for found in replayed(peer, 1, (name, RETAIN_IF_NEW))] == [b"kept"]


@pytest.mark.statement(5, "MQTT-3.3.1-11")
def test_retain_handling_2_sends_none(join, replayed, version, name):
    join().publish(name, b"kept", qos=1, retain=True)
    assert replayed(join(), 0, (name, RETAIN_NEVER)) == []


@pytest.mark.statement(5, "MQTT-3.3.4-3")
def test_a_retained_message_has_the_identifier_of_the_subscription_that_asks(join, version, name):
    join().publish(name, b"kept", qos=1, retain=True)
    peer = join()
    peer.subscribe_to((name, 0), properties=b"\x0b\x05")
    assert properties_of(peer.message(b"kept")) == {"subscription_id": [5]}


@pytest.mark.statement(5, "MQTT-3.3.2-5", "MQTT-3.3.2-6")
def test_a_retained_message_expires(join, replayed, version, name):
    publisher = join()
    for topic, expiry_s in (("short", 1), ("long", 50)):
        expiry = properties(message_expiry=expiry_s)
        publisher.publish(f"{name}/{topic}", topic.encode(), qos=1, retain=True, properties=expiry)
    pass_time(1.2)
    (found,) = replayed(join(), 1, (f"{name}/+", 1))
    assert found.payload == b"long"
    assert 40 <= properties_of(found)["message_expiry"][0] <= 49
