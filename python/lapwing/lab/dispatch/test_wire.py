"""The experiment's own MQTT, against a broker that is not ours to bend: the codec's rules, byte by byte."""

from __future__ import annotations

import socket

import pytest

from lapwing.errors import ConnectError, LapwingError
from lapwing.lab.dispatch.wire import (
    CONNACK,
    PUBLISH,
    SUBACK,
    Publishing,
    Wire,
    connect,
    encoded,
    message,
    puback,
)


def _wire(sent: bytes, *, then_closed: bool = False) -> Wire:
    """A wire whose other side has sent this."""
    near, far = socket.socketpair()
    far.sendall(sent)
    if then_closed:
        far.close()
    else:
        near.settimeout(5)
        _KEPT.append(far)
    return Wire(near)


_KEPT: list[socket.socket] = []


def test_packets_come_out_whole_however_they_come_in() -> None:
    payload = bytes(300)  # its length takes two bytes
    packets = Publishing("lab/x", {"a": "b"}, len(payload)).packet(7, payload) + b"\x90\x04\x00\x01\x00\x01"
    near, far = socket.socketpair()
    wire, found = Wire(near), []
    for byte in packets:
        far.sendall(bytes((byte,)))
        assert wire.receive()
        found += list(wire.packets())
    assert [first & 0xF0 for first, _ in found] == [PUBLISH, SUBACK]
    assert message(found[0][1]) == (b"\x00\x07", payload)


def test_connect_asks_for_all_it_can_hold_and_declares() -> None:
    packet = connect("c", {"lapwing-ack": "processed"})
    assert packet[:2] == bytes((0x10, len(packet) - 2))
    assert b"\x21\xff\xff" in packet
    assert b"\x26\x00\x0blapwing-ack\x00\x09processed" in packet


def test_a_connack_tells_receive_maximum_and_keep_alive_among_others() -> None:
    properties = b"\x12\x00\x01x" + b"\x26\x00\x01a\x00\x01b" + b"\x21\x00\x14" + b"\x24\x01" + b"\x13\x00\x1e"
    wire = _wire(bytes((0x20, 3 + len(properties), 0, 0, len(properties))) + properties)
    assert wire.open(connect("c", {})) == (20, 30)


def test_a_refusal_and_an_early_end_are_errors_that_say_so() -> None:
    with pytest.raises(ConnectError, match="0x87"):
        _wire(b"\x20\x03\x00\x87\x00").open(b"")
    with pytest.raises(LapwingError, match="closed"):
        _wire(b"", then_closed=True).expect(CONNACK)
    with pytest.raises(LapwingError, match="0x90"):
        _wire(b"\x90\x04\x00\x01\x00\x01").expect(CONNACK)


def test_a_puback_carries_properties_only_where_there_are_some() -> None:
    assert puback(b"\x00\x05") == b"\x40\x02\x00\x05"
    assert puback(b"\x00\x05", encoded({"q": "1"})) == b"\x40\x0b\x00\x05\x00\x07\x26\x00\x01q\x00\x011"
