"""DISCONNECT, and what a connection that broke the rules means for others."""

from __future__ import annotations

import pytest
import wire
from peer import properties, properties_of
from wire import DISCONNECT

LISTED = {
    *(0x00, 0x80, 0x81, 0x82, 0x83, 0x87, 0x89, 0x8B, 0x8D, 0x8E, 0x8F, 0x90, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98),
    *(0x99, 0x9A, 0x9B, 0x9C, 0x9D, 0x9E, 0x9F, 0xA0, 0xA1, 0xA2),
}


@pytest.mark.statement(5, "MQTT-3.14.2-1")
def test_codes_that_disconnect_has_not_are_refused(join, version):
    for reason in (0x01, 0x10, 0x18, 0x84, 0x85, 0x8C, 0xFF):
        peer = join()
        peer.send(wire.packet(0xE0, bytes([reason])))
        peer.closed((0x81, 0x82))


VIOLATIONS = [
    ("wrong flags", b"\xc1\x00"),
    ("a second CONNECT", wire.connect("x")),
    ("QoS 3", b"\x36\x05\0\1t\0\1"),
    ("a wildcard in a topic", wire.publish("#")),
    ("a bad filter", wire.subscribe("a#")),
    ("an unknown alias", wire.publish("", properties=properties(topic_alias=1))),
    ("an alias beyond the maximum", wire.publish("t", properties=properties(topic_alias=65_535))),
    ("a session expiry that comes late", wire.packet(0xE0, b"\0\5" + properties(session_expiry=1))),
    ("AUTH", b"\xf0\x00"),
    ("no local on a shared subscription", wire.subscribe(("$share/g/t", 4))),
    ("a packet beyond the maximum", b"\x30\xff\xff\xff\x7f" + b"\0" * 4000),
]


@pytest.mark.statement(
    5, "MQTT-3.14.2-1", "MQTT-3.14.2-2", "MQTT-3.14.4-1", "MQTT-3.14.4-2", "MQTT-4.13.1-1", "MQTT-4.13.2-1"
)
@pytest.mark.parametrize("packet", [row[1] for row in VIOLATIONS], ids=[row[0] for row in VIOLATIONS])
def test_the_brokers_disconnect_is_its_last_packet(join, version, packet):
    peer = join()
    # What is asked for after the violation is not answered any more.
    peer.send(packet, wire.PING, wire.subscribe("t"))
    found = peer.until_end()
    assert [answer.kind for answer in found] == [DISCONNECT]
    assert found[0].reason in LISTED - {0}
    assert "session_expiry" not in properties_of(found[0])


@pytest.mark.statement(4, "MQTT-4.8.0-1")
@pytest.mark.statement(5, "MQTT-4.13.1-1")
def test_a_violation_closes_its_own_connection_and_no_other(join, version, name):
    bad, good = join(), join()
    good.subscribe_to(name)
    bad.send(b"\xc1\x00")
    bad.closed(0x81)
    good.publish(name, b"well")
    assert good.message().payload == b"well"


@pytest.mark.statement(5, "MQTT-3.14.1-1")
def test_other_reserved_flags_of_disconnect_are_malformed(join, version):
    for flags in range(1, 16):
        peer = join()
        peer.send(bytes([0xE0 | flags, 0]))
        peer.closed(0x81)


@pytest.mark.statement(5, "MQTT-4.13.1-1")
def test_codes_that_auth_has_not_are_refused(join, version):
    for reason in (0x01, 0x80, 0x8C):
        peer = join()
        peer.send(wire.packet(0xF0, bytes([reason, 0])))
        peer.closed((0x81, 0x82))
