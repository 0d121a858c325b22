"""What settings change about the protocol: MQTT 3.1, where clients are sent, where answers go, sent aliases."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
import wire
from pydantic import ValidationError
from wire import CONNACK, DISCONNECT, PUBLISH, SUBACK, Wire, text

import lapwing
from lapwing.config import Config

RESPONSE_INFORMATION, SERVER_REFERENCE, TOPIC_ALIAS_MAXIMUM, TOPIC_ALIAS = b"\x1a", b"\x1c", b"\x22", b"\x23"
REQUESTS_RESPONSE_INFORMATION = b"\x19\x01"


def connect_31(client_id: str, clean: bool = True) -> bytes:
    head = text("MQIsdp") + bytes([3, 2 if clean else 0]) + struct.pack("!H", 0)
    return wire.packet(0x10, head + text(client_id))


def answer_31(broker: lapwing.Broker, client_id: str) -> tuple[Wire, bytes]:
    """A client of MQTT 3.1 and the body of its CONNACK."""
    client = Wire(broker.url, version=4)
    client.send(connect_31(client_id))
    return client, client.expect(CONNACK).body


def test_mqtt_31_is_refused_where_it_is_switched_off() -> None:
    with lapwing.Broker(limits={"mqtt31": False}) as broker:
        client, connack = answer_31(broker, "old")
        assert connack == b"\x00\x01"
        client.expect_end()


def test_mqtt_31_is_served_like_311() -> None:
    with lapwing.Broker() as broker:
        old, connack = answer_31(broker, "old")
        assert connack == b"\x00\x00"
        old.send(wire.packet(0x8A, b"\x00\x01" + text("a/+") + b"\x01"))
        assert old.expect(SUBACK).body == b"\x00\x01\x01", "DUP on a SUBSCRIBE that is sent again is no error"
        new = Wire.client(broker.url, "new")
        new.send(wire.publish("a/b", b"hello", qos=1))
        found = old.expect(PUBLISH)
        assert (found.topic, found.payload, found.qos) == ("a/b", b"hello", 1)
        new.expect(wire.PUBACK)
        new.subscribe("back")
        old.send(wire.publish("back", b"hello too", version=4))
        assert new.expect(PUBLISH).payload == b"hello too"
        old.send(wire.DISCONNECT_NORMAL)
        old.expect_end()


def test_client_ids_of_mqtt_31_have_1_to_23_characters() -> None:
    with lapwing.Broker() as broker:
        for client_id, code in (("", 2), ("ä" * 23, 0), ("a" * 24, 2)):
            assert answer_31(broker, client_id)[1] == bytes([0, code])


def test_a_session_of_mqtt_31_is_kept_and_not_announced() -> None:
    with lapwing.Broker() as broker:
        for first in (True, False):
            client = Wire(broker.url, version=4)
            client.send(connect_31("kept", clean=False))
            assert client.expect(CONNACK).body == b"\x00\x00", "no Session Present in 3.1"
            if first:
                client.subscribe(("k", 1))
                client.send(wire.DISCONNECT_NORMAL)
                client.expect_end()
                other = Wire.client(broker.url, "other")
                other.send(wire.publish("k", b"waited", qos=1))
                other.expect(wire.PUBACK)
            else:
                assert client.expect(PUBLISH).payload == b"waited"


@pytest.mark.parametrize(("moved", "reason"), [(False, 0x9C), (True, 0x9D)])
def test_clients_are_told_where_to_go_when_the_broker_leaves(tmp_path: Path, moved: bool, reason: int) -> None:
    section = {
        "listen": "tcp://127.0.0.1:0",
        "http": None,
        "data": tmp_path,
        "server_reference": "b.example:1883",
        "server_moved": moved,
    }
    broker = lapwing.Broker.from_config(Config(broker=section)).start()  # type: ignore[arg-type]
    try:
        clients = [Wire.client(broker.url, f"v{version}", version=version) for version in (5, 4)]
    finally:
        broker.stop(drain_s=30)
    goodbye = clients[0].expect(DISCONNECT)
    assert goodbye.reason == reason
    assert SERVER_REFERENCE + text("b.example:1883") in goodbye.body
    for client in clients:
        client.expect_end()


def test_a_broker_moves_to_somewhere() -> None:
    with pytest.raises(ValidationError, match="server_reference"):
        Config(broker={"server_moved": True})  # type: ignore[arg-type]


def test_without_another_broker_they_are_told_that_this_one_leaves() -> None:
    broker = lapwing.Broker().start()
    try:
        client = Wire.client(broker.url, "c")
    finally:
        broker.stop(drain_s=30)
    assert client.expect(DISCONNECT).reason == 0x8B
    client.expect_end()


def test_answers_have_a_place_for_each_client_that_asks(tmp_path: Path) -> None:
    section = {
        "listen": "tcp://127.0.0.1:0",
        "http": None,
        "data": tmp_path,
        "response_information_prefix": "answers/",
    }
    with lapwing.Broker.from_config(Config(broker=section)) as broker:  # type: ignore[arg-type]
        for properties, is_told in ((REQUESTS_RESPONSE_INFORMATION, True), (b"", False)):
            client = Wire(broker.url)
            client.send(wire.connect("asker", properties=properties))
            connack = client.expect(CONNACK)
            assert (RESPONSE_INFORMATION + text("answers/asker") in connack.body) == is_told
            assert (b"answers/" in connack.body) == is_told


def test_topics_are_shortened_for_those_who_allow_it() -> None:
    topic = "buildings/7/floors/3/rooms/12/temperature"
    with lapwing.Broker() as broker:
        publisher = Wire.client(broker.url, "publisher")
        for maximum, shortened in ((4, 8), (0, 0)):
            reader = Wire.client(broker.url, f"r{maximum}", properties=TOPIC_ALIAS_MAXIMUM + struct.pack("!H", maximum))
            reader.subscribe("buildings/#")
            publisher.send(*[wire.publish(topic, bytes([n])) for n in range(10)])
            found = [reader.expect(PUBLISH) for _ in range(10)]
            assert [packet.payload for packet in found] == [bytes([n]) for n in range(10)]
            assert [packet.topic for packet in found] == [topic] * (10 - shortened) + [""] * shortened
            assert all(len(packet.body) < 12 for packet in found if not packet.topic)
            assert (TOPIC_ALIAS + struct.pack("!H", 1) in found[-1].body) == (shortened > 0)
