"""CONNECT, byte by byte: what has another form than section 3.1 describes does not become a connection."""

from __future__ import annotations

import pytest
import wire
from peer import connect_bytes, properties
from wire import CONNACK, PING, text

WILL, WILL_QOS_1, WILL_RETAIN, PASSWORD, USERNAME, CLEAN = 4, 8, 32, 64, 128, 2


def refused(peer, reason=0x81):
    """Closed; in 3.1.1 without a CONNACK, in 5.0 at most after one with a code that fits."""
    found = peer.until_end()
    if peer.version == 4:
        assert found == []
    for packet in found:
        assert (packet.kind, packet.body[0], packet.reason) == (CONNACK, 0, reason)
    assert len(found) <= 1


@pytest.mark.statement(4, "MQTT-3.1.0-1", "MQTT-3.2.0-1")
@pytest.mark.statement(5, "MQTT-3.1.0-1", "MQTT-3.2.0-1", "MQTT-3.14.0-1")
def test_another_first_packet_ends_the_connection_without_an_answer(raw, version):
    for packet in (
        PING,
        wire.publish("t", version=version),
        wire.subscribe("t", version=version),
        wire.DISCONNECT_NORMAL,
        b"\xf0\x00",
    ):
        peer = raw()
        peer.send(packet)
        assert peer.until_end() == []


@pytest.mark.statement(4, "MQTT-3.1.0-2", "MQTT-4.8.0-1")
@pytest.mark.statement(5, "MQTT-3.1.0-2", "MQTT-3.2.0-2", "MQTT-4.13.1-1")
def test_a_second_connect_ends_the_connection(join, version, name):
    peer = join("a")
    peer.send(connect_bytes(version, name))
    peer.closed(0x82)


@pytest.mark.statement(4, "MQTT-3.1.2-1")
@pytest.mark.statement(5, "MQTT-3.1.2-1", "MQTT-3.2.2-7")
@pytest.mark.parametrize("protocol", ["mqtt", "MQTS", "MQ", "", "MQTTX", b"MQT\xff"])
def test_another_protocol_name_is_not_served(raw, version, protocol):
    peer = raw()
    peer.send(connect_bytes(version, name=protocol))
    refused(peer, 0x84)


@pytest.mark.statement(4, "MQTT-3.1.2-2", "MQTT-3.2.2-4", "MQTT-3.2.2-5")
@pytest.mark.statement(5, "MQTT-3.1.2-2", "MQTT-3.2.2-6", "MQTT-3.2.2-7", "MQTT-3.2.2-8")
def test_another_protocol_level_is_answered_and_not_served(raw, version):
    for level in (0, 1, 2, 3) if version == 4 else (6, 7, 127):
        peer = raw()
        peer.send(connect_bytes(version, level=level))
        assert [(found.kind, found.body) for found in peer.until_end()] == [
            (CONNACK, b"\x00\x01" if version == 4 else b"\x00\x84\x00")
        ]


@pytest.mark.statement(4, "MQTT-3.1.2-3", "MQTT-3.1.4-1")
@pytest.mark.statement(5, "MQTT-3.1.2-3", "MQTT-3.1.4-1")
def test_the_reserved_flag_is_refused(raw, version, name):
    peer = raw()
    peer.send(connect_bytes(version, name, flags=CLEAN | 1))
    refused(peer)


@pytest.mark.statement(4, "MQTT-3.1.2-11", "MQTT-3.1.2-13", "MQTT-3.1.2-14", "MQTT-3.1.2-15", "MQTT-3.1.2-22")
@pytest.mark.statement(5, "MQTT-3.1.2-11", "MQTT-3.1.2-12", "MQTT-3.1.2-13")
@pytest.mark.parametrize(
    "flags",
    [WILL_QOS_1, 2 * WILL_QOS_1, WILL_RETAIN, WILL | 3 * WILL_QOS_1, PASSWORD],
    ids=["will-qos-1", "will-qos-2", "will-retain", "will-with-qos-3", "password-alone"],
)
def test_flags_that_contradict_each_other_are_refused(raw, version, name, flags):
    will = (b"\0" if version == 5 else b"") + text("t") + text("m") if flags & WILL else b""
    password = text("secret") if flags & PASSWORD else b""
    peer = raw()
    peer.send(connect_bytes(version, name, flags=CLEAN | flags, fields=will + password))
    if version == 5 and flags == PASSWORD:
        assert peer.expect(CONNACK).reason == 0, "5.0 allows a password alone"
    else:
        refused(peer)


@pytest.mark.statement(
    4, "MQTT-3.1.2-9", "MQTT-3.1.2-11", "MQTT-3.1.2-18", "MQTT-3.1.2-19", "MQTT-3.1.2-20", "MQTT-3.1.2-21"
)
@pytest.mark.statement(5, "MQTT-3.1.2-9", "MQTT-3.1.2-16", "MQTT-3.1.2-17", "MQTT-3.1.2-18", "MQTT-3.1.2-19")
def test_fields_and_flags_agree(raw, version, name):
    section = b"\0" if version == 5 else b""
    for flags, fields in [
        (WILL, b""),
        (WILL, section + text("topic-alone")),
        (USERNAME, b""),
        (USERNAME | PASSWORD, text("user")),
        (0, section + text("topic") + text("message")),
        (0, text("user")),
        (USERNAME, text("user") + text("password")),
    ]:
        peer = raw()
        peer.send(connect_bytes(version, name, flags=CLEAN | flags, fields=fields))
        refused(peer)


@pytest.mark.statement(4, "MQTT-3.1.4-1", "MQTT-3.1.3-3")
@pytest.mark.statement(5, "MQTT-3.1.4-1", "MQTT-3.1.3-3")
def test_a_connect_that_ends_anywhere_before_its_end_is_refused(raw, version, name):
    section = b"\0" if version == 5 else b""
    fields = section + text("topic") + text("message") + text("user") + text("password")
    whole = connect_bytes(version, name[:8], flags=CLEAN | WILL | USERNAME | PASSWORD, fields=fields)
    body = whole[2:]
    for length in range(len(body)):
        peer = raw()
        peer.send(wire.packet(0x10, body[:length]))
        refused(peer)


@pytest.mark.statement(4, "MQTT-3.1.3-1")
@pytest.mark.statement(5, "MQTT-3.1.3-1")
def test_the_fields_are_taken_in_their_order(raw, join, version, name):
    watcher = join()
    watcher.subscribe_to(f"{name}/topic")
    section = b"\0" if version == 5 else b""
    fields = section + text(f"{name}/topic") + text("message") + text("user") + text("password")
    peer = raw()
    peer.send(connect_bytes(version, name, flags=CLEAN | WILL | USERNAME | PASSWORD, fields=fields))
    assert peer.expect(CONNACK).reason == 0
    peer.close()
    assert watcher.message().payload == b"message"


@pytest.mark.statement(4, "MQTT-3.2.2-6")
def test_a_reason_without_return_code_closes_in_silence(raw, version, name):
    peer = raw()
    huge = connect_bytes(version, name, flags=CLEAN | WILL, fields=text("t") + text("m" * 60_000))
    assert len(huge) > 50_000
    peer.send(b"\x10\xff\xff\xff\x7f" + huge[4:])
    assert peer.until_end() == []


@pytest.mark.statement(5, "MQTT-3.1.4-1", "MQTT-4.13.1-1")
@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (properties(receive_maximum=0), 0x82),
        (properties(maximum_packet_size=0), 0x82),
        (properties(session_expiry=[1, 1]), 0x82),
        (properties(request_problem_information=2), 0x82),
        (properties(request_response_information=2), 0x82),
        (properties(auth_data=b"x"), 0x82),
        (properties(topic_alias=1), 0x81),
        (properties(session_expiry=1)[:-1], 0x81),
        (b"\x7f", 0x81),
    ],
)
def test_wrong_properties_are_refused(raw, version, name, wrong, reason):
    peer = raw()
    peer.send(connect_bytes(version, name, properties=wrong))
    refused(peer, reason)


@pytest.mark.statement(4, "MQTT-4.7.1-1", "MQTT-4.7.3-1")
@pytest.mark.statement(5, "MQTT-4.7.0-1", "MQTT-4.7.3-1")
@pytest.mark.parametrize("topic", ["", "#", "a/+"])
def test_a_will_topic_is_a_topic_name(raw, version, name, topic):
    peer = raw()
    peer.send(wire.connect(name, version=version, will=(topic, b"m", 0, False)))
    refused(peer, 0x90)
