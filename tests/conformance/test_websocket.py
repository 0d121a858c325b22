"""MQTT over WebSocket: the subprotocol, binary frames only, and frames that begin and end anywhere."""

from __future__ import annotations

import pytest
import web_socket
import wire
from web_socket import BINARY, CONTINUATION, TEXT, WebWire
from wire import CONNACK, PINGRESP, PUBLISH, SUBACK

import lapwing


@pytest.fixture(scope="module")
def broker():
    with lapwing.Broker(listeners=[{"url": "ws://127.0.0.1:0"}], shards=2) as broker:
        yield broker


@pytest.fixture
def web(broker, version):
    """A WebSocket on which no packet was sent yet."""
    with WebWire(broker.url, version) as web:
        yield web


@pytest.mark.statement(4, "MQTT-6.0.0-4")
@pytest.mark.statement(5, "MQTT-6.0.0-4")
@pytest.mark.parametrize("offered", ["mqtt", "chat, mqtt", "mqtt, chat"])
def test_the_broker_answers_with_the_subprotocol_mqtt(broker, version, offered):
    with WebWire(broker.url, version, Sec_WebSocket_Protocol=offered) as web:
        lines = web.socket.head.splitlines()
        assert lines[0] == "HTTP/1.1 101 Switching Protocols"
        assert [line for line in lines if line.lower().startswith("sec-websocket-protocol")] == [
            "Sec-WebSocket-Protocol: mqtt"
        ]


@pytest.mark.statement(4, "MQTT-6.0.0-1")
@pytest.mark.statement(5, "MQTT-6.0.0-1")
@pytest.mark.parametrize("is_open", [False, True], ids=["before-connect", "after-connect"])
@pytest.mark.parametrize("last", [False, True], ids=["fragment", "whole"])
def test_a_text_frame_ends_the_connection(web, version, name, is_open, last):
    if is_open:
        web.send(wire.connect(name, version=version))
        web.expect(CONNACK)
    web.socket.stream.sendall(web_socket.frame(TEXT, wire.PING, last=last))
    web.expect_end()
    assert web.socket.close_code == 1003


@pytest.mark.statement(4, "MQTT-6.0.0-1")
@pytest.mark.statement(5, "MQTT-6.0.0-1")
def test_packets_from_the_broker_are_in_binary_frames(web, version, name):
    web.send(wire.connect(name, version=version))
    # The client's side accepts no other frame than binary ones.
    web.expect(CONNACK)
    web.subscribe(name)
    web.send(wire.publish(name, b"x" * 100_000, version=version))
    assert web.expect(PUBLISH).payload == b"x" * 100_000


@pytest.mark.statement(4, "MQTT-6.0.0-2")
@pytest.mark.statement(5, "MQTT-6.0.0-2")
def test_packets_may_lie_anywhere_in_frames(web, version, name):
    packets = wire.connect(name, version=version) + wire.subscribe(name, version=version) + wire.PING
    for start in range(0, len(packets), 3):
        web.send(packets[start : start + 3])
    # A SUBACK may wait for the broker's other shard.
    assert sorted(web.receive().kind for _ in range(3)) == [CONNACK, SUBACK, PINGRESP]
    web.send(wire.publish(name, b"one", version=version) + wire.publish(name, b"two", version=version) + wire.PING)
    assert [packet.payload for packet in (web.expect(PUBLISH), web.expect(PUBLISH))] == [b"one", b"two"]
    web.expect(PINGRESP)


@pytest.mark.statement(4, "MQTT-6.0.0-2")
@pytest.mark.statement(5, "MQTT-6.0.0-2")
def test_a_message_may_come_in_fragments(web, version, name):
    packets = wire.connect(name, version=version) + wire.PING
    first, middle, last = packets[:5], packets[5:-1], packets[-1:]
    web.socket.stream.sendall(
        web_socket.frame(BINARY, first, last=False)
        + web_socket.frame(web_socket.PING, b"in between")
        + web_socket.frame(CONTINUATION, middle, last=False)
        + web_socket.frame(CONTINUATION, last)
    )
    web.expect(CONNACK)
    web.expect(PINGRESP)
    assert web.socket.pongs == [b"in between"]
