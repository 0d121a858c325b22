"""Who may publish what: refused with the reason where there is one, acknowledged all the same where there is none."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import paho.mqtt.client as paho
import pytest
import wire
from peer import Peer, properties
from scenario import PASSWORD, refused
from wire import PUBACK, PUBCOMP, PUBREC, PUBREL

import lapwing

NOT_AUTHORIZED = 0x87
Join = Callable[..., Peer]


def dropped(broker: lapwing.Broker) -> float:
    return broker.metrics()['lapwing_messages_dropped_total{reason="not_authorized"}']


def test_what_is_permitted_arrives(join: Join) -> None:
    subscriber, publisher = join("alice", "s"), join("alice", "p")
    assert subscriber.subscribe_to(("open/x", 2)) == b"\2"
    for qos in (0, 1, 2):
        publisher.publish("open/x", b"%d" % qos, qos=qos)
        assert subscriber.message().payload == b"%d" % qos
        subscriber.round_trip()


@pytest.mark.parametrize("topic", ["closed", "open/secret", "open/secret/x", "u/bob/x", "openness"])
def test_what_is_not_is_refused_with_its_reason(broker: lapwing.Broker, join: Join, version: int, topic: str) -> None:
    """QoS 0 silently; 5.0 PUBACK and PUBREC 0x87, and the exchange ends; 3.1.1 acknowledges. Each is counted."""
    peer = join("alice", "p")
    before = dropped(broker)
    reason = NOT_AUTHORIZED if version == 5 else 0
    peer.send(wire.publish(topic, b"0", version=version))
    peer.send(wire.publish(topic, b"1", qos=1, packet_id=1, version=version))
    assert peer.expect(PUBACK).reason == reason
    peer.send(wire.publish(topic, b"2", qos=2, packet_id=2, version=version))
    assert peer.expect(PUBREC).reason == reason
    if version == 4:
        peer.send(wire.ack(PUBREL, 2))
        assert peer.expect(PUBCOMP).packet_id == 2
    # The identifier is free again.
    peer.publish("open/x", qos=2, packet_id=2)
    wire.until(lambda: dropped(broker) == before + 3)


def test_nobody_gets_what_was_refused(join: Join) -> None:
    """Is a refused message neither delivered nor retained, whatever its QoS?"""
    alice, bob = join("alice", "a"), join("bob", "b")
    alice.subscribe_to("u/alice/#", packet_id=1)
    for qos in (0, 1, 2):
        bob.send(wire.publish("u/alice/x", b"evil", qos=qos, packet_id=qos + 1, retain=True, version=bob.version))
    bob.round_trip()
    alice.publish("u/alice/y", b"own")
    assert alice.message().payload == b"own"
    assert alice.subscribe_to("u/alice/x", packet_id=2) == b"\0"
    assert alice.round_trip() == []


@pytest.mark.parametrize("version", [5], ids=["v5"], indirect=True)
def test_an_alias_is_what_it_stands_for(join: Join) -> None:
    """Is the topic behind an alias compared, also when the alias was set by a refused message?"""
    peer = join("alice", "p")
    for topic, alias, reason in [
        ("open/x", 1, 0x10),
        ("", 1, 0x10),
        ("closed", 1, 0x87),
        ("", 1, 0x87),
        ("open/y", 1, 0x10),
    ]:
        peer.send(wire.publish(topic, b"", qos=1, properties=properties(topic_alias=alias)))
        assert peer.expect(PUBACK).reason == reason, topic


def test_the_client_id_and_the_user_name_are_filled_in(broker: lapwing.Broker, join: Join, version: int) -> None:
    device = join("device-7", "c7")
    before = refused(broker, "publish")
    device.publish("spectrum/c7/readings", qos=1)
    device.publish("shared/device-7/x", qos=1)
    for topic in ("spectrum/c8/readings", "spectrum/device-7/readings", "shared/c7/x", "open/x"):
        device.publish(topic, qos=1)
    assert refused(broker, "publish") == before + 4


@pytest.mark.parametrize("topic", ["$SYS/broker/uptime", "$SYS", "$SYS/x"])
def test_nobody_publishes_as_the_broker(join: Join, version: int, topic: str) -> None:
    """Not even with a rule that says so."""
    peer = join("alice", "p")
    peer.send(wire.publish(topic, b"", qos=1, version=version))
    assert peer.expect(PUBACK).reason == (NOT_AUTHORIZED if version == 5 else 0)


@pytest.mark.parametrize("version", [5], ids=["v5"], indirect=True)
def test_nor_where_there_are_no_rules(version: int) -> None:
    with lapwing.Broker(shards=1) as broker, Peer(broker.url, version) as peer:
        peer.join("c")
        peer.send(wire.publish("$SYS/x", b"", qos=1))
        assert peer.expect(PUBACK).reason == NOT_AUTHORIZED
        peer.send(wire.publish("$OTHER/x", b"", qos=1))
        assert peer.expect(PUBACK).reason == 0x10


def test_with_paho(broker: lapwing.Broker, version: int) -> None:
    """Does a client library see what it should?"""
    client = paho.Client(paho.CallbackAPIVersion.VERSION2, client_id="paho", protocol=version)
    client.username_pw_set("alice", PASSWORD)
    reasons: dict[int, int] = {}
    connected, published = threading.Event(), threading.Event()

    def on_publish(_client: Any, _userdata: Any, mid: int, reason: Any, _properties: Any) -> None:
        reasons[mid] = reason.value
        if len(reasons) == 4:
            published.set()

    client.on_connect = lambda *_: connected.set()
    client.on_publish = on_publish
    host, _, port = broker.url.removeprefix("tcp://").partition(":")
    client.connect(host, int(port))
    client.loop_start()
    try:
        assert connected.wait(wire.TIMEOUT_S)
        sent = {qos: client.publish("closed", b"", qos).mid for qos in (1, 2)}
        allowed = {qos: client.publish("open/paho", b"", qos).mid for qos in (1, 2)}
        assert published.wait(wire.TIMEOUT_S), reasons
    finally:
        client.disconnect()
        client.loop_stop()
    assert [reasons[sent[1]]] == ([NOT_AUTHORIZED] if version == 5 else [0])
    assert all(reasons[mid] < 0x80 for mid in allowed.values())
