"""Every property in every packet that a client may send: taken where it may stand, refused everywhere else."""

from __future__ import annotations

import struct

import pytest
import wire
from peer import PROPERTIES, connect_bytes, properties
from wire import CONNACK, PUBACK, PUBCOMP, PUBREC, PUBREL, SUBACK, UNSUBACK, text, varint

VALUES = {
    "payload_format": 1,
    "message_expiry": 60,
    "content_type": "text/plain",
    "response_topic": "answers",
    "correlation_data": b"\0\1",
    "subscription_id": 200,
    "session_expiry": 0,
    "assigned_client_id": "x",
    "server_keep_alive": 1,
    "auth_method": "x",
    "auth_data": b"x",
    "request_problem_information": 1,
    "will_delay": 0,
    "request_response_information": 1,
    "response_information": "x",
    "server_reference": "x",
    "reason_string": "because",
    "receive_maximum": 5,
    "topic_alias_maximum": 5,
    "topic_alias": 1,
    "maximum_qos": 1,
    "retain_available": 1,
    "user": ("name", "value"),
    "maximum_packet_size": 1000,
    "wildcard_available": 1,
    "subscription_id_available": 1,
    "shared_available": 1,
}
OF_MESSAGE = {"payload_format", "message_expiry", "content_type", "response_topic", "correlation_data", "user"}
OF_CONNECT = {
    *("session_expiry", "receive_maximum", "maximum_packet_size", "topic_alias_maximum", "user"),
    *("request_response_information", "request_problem_information"),
}


def with_length(section):
    return varint(len(section)) + section


def acknowledgement(kind):
    flags = 2 if kind == PUBREL else 0
    return lambda section: wire.packet(kind << 4 | flags, b"\0\x09\0" + with_length(section))


def will(section):
    return connect_bytes(5, "properties", flags=6, fields=with_length(section) + text("will") + text("m"))


# The packet, how it is made, the properties it may have, and what the broker answers.
PACKETS = {
    "CONNECT": (lambda section: connect_bytes(5, "properties", properties=section), OF_CONNECT, CONNACK),
    "will": (will, OF_MESSAGE | {"will_delay"}, CONNACK),
    "PUBLISH": (lambda section: wire.publish("t", b"m", properties=section), OF_MESSAGE | {"topic_alias"}, None),
    "PUBACK": (acknowledgement(PUBACK), {"reason_string", "user"}, None),
    "PUBREC": (acknowledgement(PUBREC), {"reason_string", "user"}, PUBREL),
    "PUBREL": (acknowledgement(PUBREL), {"reason_string", "user"}, PUBCOMP),
    "PUBCOMP": (acknowledgement(PUBCOMP), {"reason_string", "user"}, None),
    "SUBSCRIBE": (
        lambda section: wire.subscribe("properties", properties=section),
        {"subscription_id", "user"},
        SUBACK,
    ),
    "UNSUBSCRIBE": (
        lambda section: wire.packet(0xA2, b"\0\1" + with_length(section) + text("properties")),
        {"user"},
        UNSUBACK,
    ),
    "DISCONNECT": (
        lambda section: wire.packet(0xE0, b"\0" + with_length(section)),
        {"session_expiry", "reason_string", "user"},
        None,
    ),
}
SECTIONS = pytest.mark.parametrize("packet", PACKETS)


@pytest.fixture
def begin(raw, join, packet):
    """A connection on which `packet` may come next."""
    return raw if packet in ("CONNECT", "will") else join


def is_refused(peer, reasons):
    """Whether the connection ends, with one of these reasons at most."""
    peer.send(wire.PING)
    found = peer.until_end()
    return not found or (len(found) == 1 and found[0].kind in (CONNACK, wire.DISCONNECT) and found[0].reason in reasons)


@SECTIONS
@pytest.mark.statement(5, "MQTT-3.1.4-5", "MQTT-3.8.4-1", "MQTT-3.10.4-4", "MQTT-3.12.4-1")
def test_each_property_is_taken_where_it_may_stand(begin, version, packet):
    make, allowed, answer = PACKETS[packet]
    for name in sorted(allowed):
        peer = begin()
        values = [VALUES[name]] * 3 if name == "user" else VALUES[name]
        peer.send(make(properties(**{name: values})))
        if packet == "DISCONNECT":
            assert peer.until_end() == [], name
            continue
        if answer is not None:
            found = peer.expect(answer)
            assert answer != CONNACK or found.reason == 0, name
        assert peer.round_trip() == [], name


@SECTIONS
@pytest.mark.statement(5, "MQTT-4.13.1-1", "MQTT-3.1.4-1")
def test_each_property_is_refused_where_it_may_not_stand(begin, version, packet):
    make, allowed, _ = PACKETS[packet]
    for name in sorted(set(PROPERTIES) - allowed - {"auth_method", "auth_data"}):
        peer = begin()
        peer.send(make(properties(**{name: VALUES[name]})))
        assert is_refused(peer, (0x81, 0x82)), name


@SECTIONS
@pytest.mark.statement(5, "MQTT-4.13.1-1", "MQTT-3.1.4-1")
def test_properties_that_do_not_exist_are_malformed(begin, version, packet):
    make = PACKETS[packet][0]
    known = {number for number, _ in PROPERTIES.values()}
    for number in sorted({0, 4, 0x0A, 0x10, 0x1B, 0x1E, 0x20, 0x2B, 0x7F} - known):
        peer = begin()
        peer.send(make(bytes([number]) + b"\0" * 8))
        assert is_refused(peer, (0x81,)), hex(number)


@SECTIONS
@pytest.mark.statement(5, "MQTT-4.13.1-1", "MQTT-3.1.4-1")
def test_each_property_but_user_may_stand_once(begin, version, packet):
    make, allowed, _ = PACKETS[packet]
    for name in sorted(allowed - {"user"}):
        peer = begin()
        peer.send(make(properties(**{name: [VALUES[name]] * 2})))
        assert is_refused(peer, (0x82,)), name


@SECTIONS
@pytest.mark.statement(5, "MQTT-4.13.1-1", "MQTT-3.1.4-1")
def test_a_property_that_is_cut_off_is_malformed(begin, version, packet):
    make, allowed, _ = PACKETS[packet]
    for name in sorted(allowed):
        whole = properties(**{name: VALUES[name]})
        for length in {1, len(whole) - 1}:
            peer = begin()
            peer.send(make(whole[:length]))
            assert is_refused(peer, (0x81,)), (name, length)


@pytest.mark.statement(5, "MQTT-4.13.1-1", "MQTT-3.1.4-1")
@pytest.mark.parametrize("packet", ["CONNECT", "will", "PUBLISH", "SUBSCRIBE"])
def test_values_that_a_property_may_not_have_are_refused(begin, version, packet):
    make = PACKETS[packet][0]
    wrong = {
        "CONNECT": [
            {"receive_maximum": 0},
            {"maximum_packet_size": 0},
            {"request_problem_information": 2},
            {"request_response_information": 255},
        ],
        "will": [{"payload_format": 2}, {"response_topic": "a/#"}],
        "PUBLISH": [{"payload_format": 2}, {"response_topic": "+"}, {"topic_alias": 0}],
        "SUBSCRIBE": [{"subscription_id": 0}],
    }
    for values in wrong[packet]:
        peer = begin()
        peer.send(make(properties(**values)))
        assert is_refused(peer, (0x81, 0x82, 0x90, 0x94)), values


@pytest.mark.statement(5, "MQTT-3.3.4-1", "MQTT-4.3.3-11")
def test_short_forms_of_acknowledgements_are_taken(join, version, name):
    peer, publisher = join(), join()
    peer.subscribe_to((name, 2))
    for form in (b"", b"\0", b"\0\0"):
        for qos, kind in ((1, PUBACK), (2, PUBREC)):
            publisher.publish(name, b"m", qos=qos)
            packet_id = struct.pack("!H", peer.message(b"m").packet_id)
            peer.send(wire.packet(kind << 4, packet_id + form))
            if kind == PUBREC:
                peer.expect(PUBREL)
                peer.send(wire.packet(PUBCOMP << 4, packet_id + form))
            assert peer.round_trip() == []
        peer.send(wire.publish(name + "/nobody", qos=2, packet_id=3))
        peer.expect(PUBREC)
        peer.send(wire.packet(PUBREL << 4 | 2, b"\0\3" + form))
        assert peer.expect(PUBCOMP).reason == 0
