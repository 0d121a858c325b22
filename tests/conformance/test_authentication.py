"""Enhanced authentication (5.0, section 4.12), with a method of two steps written as a hook."""

from __future__ import annotations

import pytest
import wire
from peer import Peer, connect_bytes, properties, properties_of
from wire import CONNACK, DISCONNECT, varint

import lapwing
from lapwing.hooks import AuthStep, Continue, Hooks, Refuse, Success

AUTH = 15
GO_ON, AGAIN = 0x18, 0x19


class TwoSteps(Hooks):
    """The client says its name, hears it with a question mark, and answers with an exclamation mark."""

    def on_auth(self, step: AuthStep) -> Continue | Success | Refuse:
        if step.method != "TWO-STEPS":
            return Refuse(0x8C)
        if step.first:
            return Continue((step.data or b"") + b"?")
        return Success("bob", b"welcome") if step.data == b"bob!" else Refuse(0x87, "that is not the answer")


@pytest.fixture(scope="module")
def broker():
    with lapwing.Broker(shards=2, hooks=TwoSteps()) as broker:
        yield broker


def auth_bytes(code, method="TWO-STEPS", data=b"bob!"):
    section = properties(auth_method=method, auth_data=data)
    return wire.packet(AUTH << 4, bytes([code]) + varint(len(section)) + section)


def auth_of(packet):
    """Code, method and data of an AUTH."""
    found = properties_of(wire.Packet(DISCONNECT << 4, packet.body, 5))  # of the same shape
    return packet.body[0], found["auth_method"], found.get("auth_data")


@pytest.fixture
def asked(raw, name):
    """A client that has named the method, and was asked."""

    def make() -> Peer:
        peer = raw()
        peer.send(connect_bytes(5, name, properties=properties(auth_method="TWO-STEPS", auth_data=b"bob")))
        assert auth_of(peer.expect(AUTH)) == (GO_ON, ["TWO-STEPS"], [b"bob?"])
        return peer

    return make


@pytest.fixture
def proven(asked):
    """A client that has answered, and is connected."""

    def make() -> Peer:
        peer = asked()
        peer.send(auth_bytes(GO_ON))
        peer.connack = peer.expect(CONNACK)
        assert peer.connack.reason == 0
        return peer

    return make


@pytest.mark.statement(5, "MQTT-4.12.0-2", "MQTT-4.12.0-3", "MQTT-4.12.0-5")
def test_a_client_is_asked_and_accepted_with_its_method(proven, version):
    peer = proven()
    found = properties_of(peer.connack)
    assert (found["auth_method"], found["auth_data"]) == (["TWO-STEPS"], [b"welcome"])
    assert peer.round_trip() == []


@pytest.mark.statement(5, "MQTT-4.12.0-4")
def test_a_wrong_answer_is_refused(asked, version):
    peer = asked()
    peer.send(auth_bytes(GO_ON, data=b"eve!"))
    found = peer.until_end()
    assert [packet.kind for packet in found] == [CONNACK]
    assert found[0].reason == 0x87
    assert properties_of(found[0])["reason_string"] == ["that is not the answer"]


@pytest.mark.statement(5, "MQTT-3.1.2-30")
@pytest.mark.parametrize("packet", [wire.PING, wire.publish("a"), wire.subscribe("a")])
def test_nothing_else_comes_before_connack(asked, version, packet):
    peer = asked()
    peer.send(packet)
    assert [(found.kind, found.reason) for found in peer.until_end()] == [(CONNACK, 0x82)]


@pytest.mark.statement(5, "MQTT-4.12.0-5")
@pytest.mark.parametrize("packet", [auth_bytes(GO_ON, method="OTHER"), auth_bytes(AGAIN), b"\xf0\x00"])
def test_another_method_or_step_is_a_protocol_error(asked, version, packet):
    peer = asked()
    peer.send(packet)
    assert [(found.kind, found.reason) for found in peer.until_end()] == [(CONNACK, 0x82)]


@pytest.mark.statement(5, "MQTT-4.12.1-1", "MQTT-4.12.0-5")
def test_a_client_authenticates_anew_while_it_goes_on(proven, version, name):
    peer = proven()
    peer.subscribe_to(name)
    peer.send(auth_bytes(AGAIN, data=b"bob"))
    assert auth_of(peer.expect(AUTH)) == (GO_ON, ["TWO-STEPS"], [b"bob?"])
    peer.send(wire.publish(name, b"meanwhile"))
    peer.message(b"meanwhile")
    peer.send(auth_bytes(GO_ON))
    assert auth_of(peer.expect(AUTH)) == (0x00, ["TWO-STEPS"], [b"welcome"])
    assert peer.round_trip() == []


@pytest.mark.statement(5, "MQTT-4.12.1-2")
def test_a_client_that_fails_anew_is_disconnected(proven, version):
    peer = proven()
    peer.send(auth_bytes(AGAIN, data=b"bob"))
    peer.expect(AUTH)
    peer.send(auth_bytes(GO_ON, data=b"eve!"))
    peer.closed(0x87)
