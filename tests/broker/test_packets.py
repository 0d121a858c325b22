"""What a client sees at its socket: reason codes, wills, retained messages, sessions, windows."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import pytest
from wire import (
    CONNACK,
    DISCONNECT,
    DISCONNECT_NORMAL,
    PING,
    PUBACK,
    PUBCOMP,
    PUBLISH,
    PUBREC,
    PUBREL,
    SUBACK,
    Packet,
    Wire,
    ack,
    connect,
    packet,
    publish,
    subscribe,
    text,
    unsubscribe,
    until,
)

import lapwing


@pytest.fixture(scope="module", params=[1, 3])
def broker(request: pytest.FixtureRequest) -> Iterator[lapwing.Broker]:
    with lapwing.Broker(shards=request.param) as broker:
        yield broker


def expiry(seconds: int) -> bytes:
    return b"\x11" + struct.pack("!I", seconds)


def durable(url: str, client_id: str, seconds: int = 60) -> tuple[Wire, bool]:
    """A client that goes on with its session, and whether there was one."""
    wire = Wire(url)
    wire.send(connect(client_id, clean=False, properties=expiry(seconds)))
    return wire, bool(wire.expect(CONNACK).body[0])


def publish_retained(url: str, topic: str, payload: bytes) -> None:
    """Returns when a new subscriber sees it: the acknowledgement alone does not say that its owner has it."""
    with Wire.client(url, "retainer") as wire, Wire.client(url, "retainer-sees") as looker:
        wire.send(publish(topic, payload, retain=True))
        wire.round_trip()

        def seen() -> bool:
            looker.send(subscribe(topic))
            late = next_suback(looker)
            try:
                return payload in late or looker.expect(PUBLISH, 0.1).payload == payload
            except TimeoutError:
                return payload == b""

        until(seen)


def next_suback(wire: Wire) -> list[bytes]:
    """The payloads of messages that an earlier question brought late, before the SUBACK."""
    late = []
    while (found := wire.receive()) is not None and found.kind == PUBLISH:
        late.append(found.payload)
    assert found is not None
    assert found.kind == SUBACK
    return late


def test_what_is_not_allowed_is_named(broker: lapwing.Broker) -> None:
    """Does each violation get the code that the specification names, and then the end?"""
    for wrong, reason in [
        (connect("again"), 0x82),
        (packet(0x90, b"\0\1\0\0"), 0x82),
        (publish("a/+"), 0x90),
        (packet(0x36, text("t") + b"\0\1\0"), 0x81),
        (subscribe(("$share/g/t", 4)), 0x82),
        (publish("t", properties=b"\x23\x00\x00"), 0x94),
        (publish("t", b"x" * (1 << 20))[:100], 0x95),  # its header says enough; what follows would meet a closed socket
    ]:
        with Wire.client(broker.url, "wrong") as wire:
            wire.send(wrong)
            assert hex(wire.expect(DISCONNECT).reason) == hex(reason), wrong[:20]
            wire.expect_end()


def test_refusals(broker: lapwing.Broker) -> None:
    """Is a CONNECT refused in the client's own version, and anything else met with silence?"""
    for version, first, reason in [
        (5, packet(0x10, text("MQTT") + bytes([6, 2, 0, 0, 0]) + text("x")), 0x84),
        (4, connect("", version=4, clean=False), 2),
        (5, PING, None),
    ]:
        with Wire(broker.url, version) as wire:
            wire.send(first)
            if reason is not None:
                assert wire.expect(CONNACK).reason == reason
            wire.expect_end()


def test_takeover_says_why_and_publishes_the_will(broker: lapwing.Broker) -> None:
    with Wire.client(broker.url, "watcher") as watcher, Wire(broker.url) as old:
        watcher.subscribe("will/taken")
        old.send(connect("taken", will=("will/taken", b"gone", 1, False)))
        old.expect(CONNACK)
        with Wire.client(broker.url, "taken") as new:
            assert old.expect(DISCONNECT).reason == 0x8E
            old.expect_end()
            assert watcher.expect(PUBLISH).payload == b"gone"
            assert new.round_trip() == []


def test_keep_alive(broker: lapwing.Broker) -> None:
    with Wire(broker.url) as wire:
        wire.send(connect("silent", keep_alive_s=1))
        wire.expect(CONNACK)
        assert wire.expect(DISCONNECT).reason == 0x8D
        wire.expect_end()


def test_wills(broker: lapwing.Broker) -> None:
    """Published after a break and after 0x04, not after a normal DISCONNECT, and retained when it says so."""
    with Wire.client(broker.url, "mourner") as mourner:
        mourner.subscribe("end/#")
        for name, last_words in [("broken", b""), ("asked", packet(0xE0, b"\x04")), ("normal", DISCONNECT_NORMAL)]:
            with Wire(broker.url) as wire:
                wire.send(connect(name, will=(f"end/{name}", b"gone", 0, True)))
                wire.expect(CONNACK)
                wire.send(last_words)
        # A retained will may come twice to so young a subscription: as itself, and as what is retained.
        topics: set[str] = set()
        while len(topics) < 2:
            topics.add(mourner.expect(PUBLISH).topic)
        assert topics == {"end/broken", "end/asked"}
        assert {again.topic for again in mourner.round_trip()} <= topics
        publish_retained(broker.url, "end/broken", b"")


def test_retain_handling_and_retain_as_published(broker: lapwing.Broker) -> None:
    publish_retained(broker.url, "kept", b"1")
    with Wire.client(broker.url, "reader") as wire, Wire.client(broker.url, "writer") as writer:

        def answers(options: int) -> bool:
            wire.send(subscribe(("kept", options)))
            wire.expect(SUBACK)
            return wire.expect(PUBLISH).retain

        def is_silent(options: int) -> bool:
            wire.send(subscribe(("kept", options)))
            wire.expect(SUBACK)
            try:
                return wire.receive(0.2) is None
            except TimeoutError:
                return True

        # 0: always; 1: only to a new subscription; 2: never.
        assert [answers(0x10), is_silent(0x10), answers(0x00), is_silent(0x20)] == [True] * 4
        wire.send(unsubscribe("kept"))
        wire.round_trip()
        assert answers(0x18), "a new subscription again"
        for payload, options, retain in [(b"2", 0x28, True), (b"3", 0x20, False), (b"", 0x28, True)]:
            assert is_silent(options)
            writer.send(publish("kept", payload, retain=True))
            seen = wire.expect(PUBLISH)
            assert (seen.payload, seen.retain) == (payload, retain)
        publish_retained(broker.url, "kept", b"")


def test_qos_2_goes_on_where_it_was(broker: lapwing.Broker) -> None:
    """Is each step repeated after a reconnect, with the same packet id, and nothing else?"""
    wire, _ = durable(broker.url, "twice")
    wire.subscribe(("two", 2))
    with Wire.client(broker.url, "sender") as sender:
        sender.send(publish("two", b"x", qos=2, packet_id=9))
        sender.expect(PUBREC)
        sender.send(publish("two", b"x", qos=2, packet_id=9, dup=True))
        sender.expect(PUBREC)
        sender.send(ack(PUBREL, 9))
        sender.expect(PUBCOMP)
    first = wire.expect(PUBLISH)
    wire.close()
    wire, present = durable(broker.url, "twice")
    assert present
    again = wire.expect(PUBLISH)
    assert (again.first & 8, again.packet_id) == (8, first.packet_id)
    wire.send(ack(PUBREC, again.packet_id))
    assert wire.expect(PUBREL).packet_id == again.packet_id
    wire.close()
    wire, _ = durable(broker.url, "twice", 0)
    assert wire.expect(PUBREL).packet_id == again.packet_id
    wire.send(ack(PUBCOMP, again.packet_id))
    assert wire.round_trip() == []
    wire.close()


def test_overlapping_subscriptions_give_one_copy(broker: lapwing.Broker) -> None:
    with Wire.client(broker.url, "both") as wire, Wire.client(broker.url, "one") as sender:
        wire.send(subscribe(("o/#", 1), properties=b"\x0b\x01"), subscribe(("o/+", 2), properties=b"\x0b\x02"))
        wire.expect(SUBACK)
        wire.expect(SUBACK)
        sender.send(publish("o/1", b"x", qos=2))
        sender.expect(PUBREC)
        copy = wire.expect(PUBLISH)
        assert copy.qos == 2
        assert b"\x0b\x01\x0b\x02" in copy.body or b"\x0b\x02\x0b\x01" in copy.body
        assert wire.round_trip() == []


def test_receive_maximum_and_maximum_packet_size(broker: lapwing.Broker) -> None:
    with Wire(broker.url) as wire, Wire.client(broker.url, "fast") as sender:
        wire.send(connect("narrow", properties=b"\x21\x00\x02\x27" + struct.pack("!I", 60)))
        wire.expect(CONNACK)
        wire.subscribe(("n", 1))
        for n, payload in enumerate([b"a", b"b" * 100, b"c", b"d"]):
            sender.send(publish("n", payload, qos=1, packet_id=n + 1))
            sender.expect(PUBACK)
        first, second = wire.expect(PUBLISH), wire.expect(PUBLISH)
        assert [first.payload, second.payload] == [b"a", b"c"], "the one too large is passed over"
        assert wire.round_trip() == []
        wire.send(ack(PUBACK, first.packet_id))
        assert wire.expect(PUBLISH).payload == b"d"


def test_a_group_prefers_members_that_are_there(broker: lapwing.Broker) -> None:
    """Four messages go to the member with a connection; without one they wait and are not lost."""
    here, _ = durable(broker.url, "here")
    away, _ = durable(broker.url, "away")
    for wire in (here, away):
        wire.subscribe(("$share/g/work", 1))
    away.close()
    with Wire.client(broker.url, "boss") as boss:
        until(lambda: broker.metrics()["lapwing_sessions_offline"] >= 1)
        boss.round_trip()

        def send_four() -> None:
            for n in range(4):
                boss.send(publish("work", b"%d" % n, qos=1, packet_id=n + 1))
                boss.expect(PUBACK)

        send_four()
        got: list[Packet] = [here.expect(PUBLISH) for _ in range(4)]
        here.close()
        send_four()
    for name in ("here", "away"):
        wire, _ = durable(broker.url, name, 0)
        got += [wire.expect(PUBLISH) for _ in range(8)]
        assert wire.round_trip() == []
        wire.close()
    assert len(got) == 4 + 8 + 8, "what a member had not acknowledged goes to the next one, with what had waited"


def test_a_session_expires(broker: lapwing.Broker) -> None:
    wire, _ = durable(broker.url, "brief", 3)
    wire.close()
    wire, present = durable(broker.url, "brief", 3)
    assert present
    offline = broker.metrics()["lapwing_sessions_offline"]
    wire.close()
    until(lambda: broker.metrics()["lapwing_sessions_offline"] > offline)
    until(lambda: broker.metrics()["lapwing_sessions_offline"] <= offline)
    wire, present = durable(broker.url, "brief", 0)
    assert not present
    wire.close()
