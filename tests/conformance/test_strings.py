"""Strings, integers and fixed headers: what chapters 1 and 2 ask of every packet."""

from __future__ import annotations

import struct

import pytest
import wire
from peer import connect_bytes, properties, properties_of
from wire import CONNACK, text, varint

ILL_FORMED = [b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xc0\x80", b"\xff", b"a\xe2\x82", b"\xf4\x90\x80\x80", b"\x80"]
NULL = [b"\0", b"a\0b"]
BOM = "\ufeff"


def connect_with(version, where, bad):
    """A CONNECT whose string `where` is `bad`."""
    section = b"\0" if version == 5 else b""
    user = properties(user=("k", "v"))
    will = {
        "will topic": section + text(bad) + text("m"),
        "will content type": varint(3 + len(bad)) + properties(content_type=bad) + text("t") + text("m"),
    }
    if where in will:
        return connect_bytes(version, "c", flags=2 | 4, fields=will[where])
    if where == "user name":
        return connect_bytes(version, "c", flags=2 | 128, fields=text(bad))
    if where == "client id":
        return connect_bytes(version, bad)
    if where == "user property":
        return connect_bytes(version, "c", properties=user + properties(user=("k", bad)))
    return connect_bytes(version, "c", properties=properties(auth_method=bad))


@pytest.mark.statement(4, "MQTT-1.5.3-1", "MQTT-3.1.3-4", "MQTT-3.1.3-10", "MQTT-3.1.3-11")
@pytest.mark.statement(5, "MQTT-1.5.4-1", "MQTT-1.5.7-1", "MQTT-3.1.3-4", "MQTT-3.1.3-11", "MQTT-3.1.3-12")
@pytest.mark.parametrize("bad", ILL_FORMED, ids=bytes.hex)
def test_ill_formed_strings_in_connect_are_refused(raw, version, bad):
    refused_in_connect(raw, version, bad)


@pytest.mark.statement(4, "MQTT-1.5.3-2")
@pytest.mark.statement(5, "MQTT-1.5.4-2")
@pytest.mark.parametrize("bad", NULL, ids=bytes.hex)
def test_null_characters_in_connect_are_refused(raw, version, bad):
    refused_in_connect(raw, version, bad)


def refused_in_connect(raw, version, bad):
    places = ["client id", "will topic", "user name"]
    for where in [*places, "will content type", "user property", "auth method"] if version == 5 else places:
        peer = raw()
        peer.send(connect_with(version, where, bad))
        found = peer.until_end()
        assert version == 5 or found == [], where
        assert [(p.kind, p.reason) for p in found] in ([], [(CONNACK, 0x81)]), where


def packets_with(version, bad):
    """Packets with a bad string: its place, and the bytes."""
    section = b"\0" if version == 5 else b""
    yield "topic", wire.packet(0x30, text(bad) + section + b"m")
    yield "filter", wire.packet(0x82, b"\0\1" + section + text(bad) + b"\0")
    yield "second filter", wire.packet(0x82, b"\0\1" + section + text("a") + b"\0" + text(bad) + b"\0")
    yield "unsubscribed filter", wire.packet(0xA2, b"\0\1" + section + text(bad))
    if version == 4:
        return
    for name in ("response_topic", "content_type"):
        yield name, wire.publish("t", properties=properties(**{name: bad}))
    for pair in ((b"k", bad), (bad, b"v")):
        yield "user property", wire.publish("t", properties=properties(user=pair))
        yield "user property of SUBSCRIBE", wire.subscribe("t", properties=properties(user=pair))
    reason = properties(reason_string=bad)
    yield "reason string of PUBREL", wire.packet(0x62, b"\0\1\0" + varint(len(reason)) + reason)
    yield "reason string of DISCONNECT", wire.packet(0xE0, b"\0" + varint(len(reason)) + reason)


@pytest.mark.statement(4, "MQTT-1.5.3-1", "MQTT-3.3.2-1", "MQTT-3.8.3-1", "MQTT-3.10.3-1")
@pytest.mark.statement(
    5,
    "MQTT-1.5.4-1",
    "MQTT-1.5.7-1",
    "MQTT-3.3.2-1",
    "MQTT-3.3.2-13",
    "MQTT-3.3.2-19",
    "MQTT-3.8.3-1",
    "MQTT-3.10.3-1",
)
@pytest.mark.parametrize("bad", ILL_FORMED, ids=bytes.hex)
def test_ill_formed_strings_end_the_connection(join, version, bad):
    for _, packet in packets_with(version, bad):
        peer = join()
        peer.send(packet)
        peer.closed(0x81)


@pytest.mark.statement(4, "MQTT-1.5.3-2", "MQTT-4.7.3-2")
@pytest.mark.statement(5, "MQTT-1.5.4-2", "MQTT-4.7.3-2")
@pytest.mark.parametrize("bad", NULL, ids=bytes.hex)
def test_null_characters_end_the_connection(join, version, bad):
    for _, packet in packets_with(version, bad):
        peer = join()
        peer.send(packet)
        peer.closed((0x81, 0x8F, 0x90))


@pytest.mark.statement(4, "MQTT-1.5.3-3", "MQTT-4.7.3-4")
@pytest.mark.statement(5, "MQTT-1.5.4-3", "MQTT-4.7.3-4")
def test_a_byte_order_mark_is_a_character_like_others(join, version, name):
    peer = join()
    with_mark = f"{BOM}{name}/{BOM}x"
    peer.subscribe_to((with_mark, 0))
    peer.publish(f"{name}/x", b"another topic", qos=1)
    peer.publish(with_mark, b"this one")
    assert peer.message(b"this one").topic == with_mark


@pytest.mark.statement(5, "MQTT-1.5.5-1")
def test_lengths_of_too_many_bytes_are_malformed(join, version):
    for packet in (
        b"\xc0\x80\x00",
        wire.packet(0x30, text("t") + b"\x80\x00" + b"m"),
        wire.packet(0x82, b"\0\1" + b"\x83\x00" + properties(subscription_id=1)[:1] + b"\x81\x00" + text("t") + b"\0"),
        wire.packet(0x82, b"\0\1" + b"\x03" + b"\x0b\x81\x00" + text("t") + b"\0"),
    ):
        peer = join()
        peer.send(packet)
        peer.closed(0x81)


@pytest.mark.statement(5, "MQTT-1.5.5-1")
@pytest.mark.parametrize("length", [0, 127, 128, 16_383, 16_384])
def test_the_broker_writes_lengths_in_as_few_bytes_as_they_need(join, version, name, length):
    peer = join()
    peer.subscribe_to((name, 0))
    head = text(name) + b"\0"
    payload = b"p" * max(0, length - len(head))
    peer.publish(name, payload)
    expected = b"\x30" + varint(len(head) + len(payload)) + head + payload
    found = b""
    while len(found) < len(expected):
        found += peer.socket.recv(len(expected) - len(found))
    assert found == expected


FLAGS = [
    ("PUBACK", 0x40, b"\0\1", (1, 2, 8)),
    ("PUBREC", 0x50, b"\0\1", (1, 2, 8)),
    ("PUBREL", 0x60, b"\0\1", (0, 1, 3, 6, 10)),
    ("PUBCOMP", 0x70, b"\0\1", (1, 2, 8)),
    ("SUBSCRIBE", 0x80, b"", (0, 1, 3, 6, 10)),
    ("UNSUBSCRIBE", 0xA0, b"", (0, 1, 3, 6, 10)),
    ("PINGREQ", 0xC0, b"", (1, 2, 4, 8)),
    ("DISCONNECT", 0xE0, b"", (1, 2, 4, 8)),
    ("AUTH", 0xF0, b"", (1, 2, 4, 8)),
]


def wrong_flags(kind, raw_join, version):
    (first, body, wrong) = next(row[1:] for row in FLAGS if row[0] == kind)
    section = b"\0" if version == 5 else b""
    if kind == "SUBSCRIBE":
        body = b"\0\1" + section + text("t") + b"\0"
    elif kind == "UNSUBSCRIBE":
        body = b"\0\1" + section + text("t")
    for flags in wrong:
        peer = raw_join()
        peer.send(wire.packet(first | flags, body))
        peer.closed(0x81)


@pytest.mark.statement(4, "MQTT-2.2.2-1", "MQTT-2.2.2-2")
@pytest.mark.statement(5, "MQTT-2.1.3-1")
@pytest.mark.parametrize("kind", ["PUBACK", "PUBREC", "PUBCOMP", "PINGREQ"])
def test_wrong_flags_end_the_connection(join, version, kind):
    wrong_flags(kind, join, version)


@pytest.mark.statement(4, "MQTT-3.6.1-1", "MQTT-2.2.2-2")
@pytest.mark.statement(5, "MQTT-3.6.1-1", "MQTT-2.1.3-1")
def test_wrong_flags_of_pubrel(join, version):
    wrong_flags("PUBREL", join, version)


@pytest.mark.statement(4, "MQTT-3.8.1-1", "MQTT-2.2.2-2")
@pytest.mark.statement(5, "MQTT-3.8.1-1", "MQTT-2.1.3-1")
def test_wrong_flags_of_subscribe(join, version):
    wrong_flags("SUBSCRIBE", join, version)


@pytest.mark.statement(4, "MQTT-3.10.1-1", "MQTT-2.2.2-2")
@pytest.mark.statement(5, "MQTT-3.10.1-1", "MQTT-2.1.3-1")
def test_wrong_flags_of_unsubscribe(join, version):
    wrong_flags("UNSUBSCRIBE", join, version)


@pytest.mark.statement(4, "MQTT-3.14.1-1", "MQTT-2.2.2-2")
@pytest.mark.statement(5, "MQTT-3.14.1-1", "MQTT-2.1.3-1")
def test_wrong_flags_of_disconnect(join, version):
    wrong_flags("DISCONNECT", join, version)


@pytest.mark.statement(5, "MQTT-3.15.1-1")
def test_wrong_flags_of_auth(join, version):
    wrong_flags("AUTH", join, version)


@pytest.mark.statement(4, "MQTT-2.2.2-2")
@pytest.mark.statement(5, "MQTT-2.1.3-1")
def test_wrong_flags_of_connect(raw, version, name):
    packet = connect_bytes(version, name)
    for flags in (1, 2, 4, 8):
        peer = raw()
        peer.send(bytes([packet[0] | flags]) + packet[1:])
        assert [(found.kind, found.reason) for found in peer.until_end()] in ([], [(CONNACK, 0x81)])


@pytest.mark.statement(4, "MQTT-4.8.0-1")
@pytest.mark.statement(5, "MQTT-4.13.1-1")
def test_types_that_a_client_may_not_send_end_the_connection(join, version):
    packets = [b"\x00\x00", b"\x20\x02\0\0", b"\x90\x03\0\1\0", b"\xb0\x02\0\1", b"\xd0\x00"]
    for packet in [*packets, b"\xf0\x00"] if version == 4 else packets:
        peer = join()
        peer.send(packet)
        peer.closed((0x81, 0x82))


@pytest.mark.statement(4, "MQTT-2.3.1-1")
@pytest.mark.statement(5, "MQTT-2.2.1-3")
def test_a_packet_identifier_of_zero_ends_the_connection(join, version):
    for packet in (
        wire.publish("t", qos=1, packet_id=0, version=version),
        wire.publish("t", qos=2, packet_id=0, version=version),
        wire.subscribe("t", packet_id=0, version=version),
        wire.unsubscribe("t", packet_id=0, version=version),
    ):
        peer = join()
        peer.send(packet)
        peer.closed((0x81, 0x82))


@pytest.mark.statement(4, "MQTT-2.3.1-4")
@pytest.mark.statement(5, "MQTT-2.2.1-4", "MQTT-4.3.2-1", "MQTT-4.3.3-1")
def test_the_broker_takes_identifiers_that_are_not_in_use(join, version, name):
    subscriber, publisher = join(), join()
    subscriber.subscribe_to((f"{name}/x", 2))
    in_use: set[int] = set()
    for round_number in range(30):
        publisher.publish(f"{name}/x", b"m", qos=1 + round_number % 2)
        packet_id = subscriber.message().packet_id
        assert packet_id != 0
        assert packet_id not in in_use
        in_use.add(packet_id)
        if round_number % 6 == 1:
            subscriber.send(wire.ack(wire.PUBREC, packet_id))
            assert subscriber.expect(wire.PUBREL).packet_id == packet_id
            subscriber.send(wire.ack(wire.PUBCOMP, packet_id))
            in_use.remove(packet_id)


@pytest.mark.statement(4, "MQTT-2.3.1-5", "MQTT-4.3.1-1", "MQTT-3.3.1-2")
@pytest.mark.statement(5, "MQTT-2.2.1-2", "MQTT-4.3.1-1", "MQTT-3.3.1-2", "MQTT-2.2.2-1")
def test_a_message_of_qos_0_has_no_identifier_and_no_flags(join, version, name):
    peer = join()
    peer.subscribe_to((name, 2))
    section = b"\0" if version == 5 else b""
    peer.publish(name, b"\0\1 is payload")
    found = peer.message()
    assert (found.first, found.body) == (0x30, text(name) + section + b"\0\1 is payload")


@pytest.mark.statement(5, "MQTT-2.2.2-1")
def test_a_packet_without_property_length_is_malformed(join, version):
    for packet in (
        wire.packet(0x30, text("t")),
        wire.packet(0x82, b"\0\1"),
        wire.packet(0xA2, b"\0\1"),
    ):
        peer = join()
        peer.send(packet)
        peer.closed(0x81)


@pytest.mark.statement(5, "MQTT-2.2.2-1")
def test_answers_without_properties_say_so(join, version, name):
    peer = join()
    peer.send(wire.subscribe(name, packet_id=7))
    assert peer.receive().body == struct.pack("!H", 7) + b"\0\0"
    peer.send(wire.unsubscribe(name, packet_id=8))
    assert peer.receive().body == struct.pack("!H", 8) + b"\0\0"


@pytest.mark.statement(4, "MQTT-2.3.1-6", "MQTT-2.3.1-7")
@pytest.mark.statement(5, "MQTT-2.2.1-5", "MQTT-2.2.1-6")
@pytest.mark.parametrize("packet_id", [1, 255, 256, 65_535])
def test_answers_have_the_identifier_of_what_they_answer(join, version, name, packet_id):
    peer = join()
    # `publish` compares the identifier of each acknowledgement.
    peer.publish(name, qos=1, packet_id=packet_id)
    peer.publish(name, qos=2, packet_id=packet_id)
    peer.send(wire.subscribe(name, packet_id=packet_id, version=version))
    assert peer.expect(wire.SUBACK).packet_id == packet_id
    peer.send(wire.unsubscribe(name, packet_id=packet_id, version=version))
    assert peer.expect(wire.UNSUBACK).packet_id == packet_id


@pytest.mark.statement(5, "MQTT-4.13.1-1")
@pytest.mark.parametrize(
    ("section", "reason"),
    [
        (properties(payload_format=2), 0x82),
        (properties(payload_format=[1, 1]), 0x82),
        (properties(message_expiry=[1, 1]), 0x82),
        (properties(content_type=["a", "a"]), 0x82),
        (properties(response_topic=["a", "a"]), 0x82),
        (properties(correlation_data=["a", "a"]), 0x82),
        (properties(topic_alias=[1, 1]), 0x82),
        (properties(session_expiry=1), 0x81),
        (properties(message_expiry=1)[:-1], 0x81),
        (properties(user=("k", "v"))[:-1], 0x81),
        (b"\x04\x00", 0x81),
    ],
)
def test_wrong_properties_of_a_message_end_the_connection(join, version, section, reason):
    peer = join()
    peer.send(wire.publish("t", b"a payload", properties=section))
    peer.closed(reason)


@pytest.mark.statement(5, "MQTT-2.2.2-1")
def test_a_connack_has_its_properties_behind_their_length(join, version):
    # Reading fails when the length does not fit the properties.
    assert properties_of(join().connack)
