"""WebSocket beyond what the specification of MQTT numbers: answers of HTTP, origins, closing, paths, TLS below it."""

from __future__ import annotations

import threading

import paho.mqtt.client as paho
import pytest
import web_socket
import wire
from carriers import SecureWebWire, echo, greet, tcp
from web_socket import BINARY, CLOSE, PING, WebWire, frame, read_head, request
from wire import until

import lapwing


@pytest.fixture(scope="module")
def broker():
    listener = {"url": "ws://127.0.0.1:0", "origins": ["https://dash.example"]}
    with lapwing.Broker(listeners=[listener], shards=2) as broker:
        yield broker


def refused(broker: lapwing.Broker, reason: str) -> float:
    return broker.metrics()[f'lapwing_connections_refused_total{{reason="{reason}"}}']


def test_large_messages_cross(broker):
    assert broker.url.endswith("/mqtt")
    with WebWire(broker.url) as web:
        assert greet(web, "large").reason == 0
        echo(web, "large", bytes(range(256)) * 3000)


def test_a_client_library_connects(broker):
    client = paho.Client(paho.CallbackAPIVersion.VERSION2, "paho-ws", transport="websockets")
    client.ws_set_options(path="/mqtt")
    got = threading.Event()
    client.on_message = lambda *_: got.set()
    client.on_connect = lambda *_: client.subscribe("paho/ws", 1)
    client.on_subscribe = lambda *_: client.publish("paho/ws", b"m", qos=1)
    client.connect("127.0.0.1", int(broker.url.rpartition(":")[2].partition("/")[0]))
    client.loop_start()
    try:
        assert got.wait(30)
    finally:
        client.disconnect()
        client.loop_stop()


def test_over_tls(authority):
    """Do packets cross over WebSocket over TLS, at the path set, also large and in small frames?"""
    listener = {"url": "wss://127.0.0.1:0/broker", **authority.listener}
    with lapwing.Broker(listeners=[listener], shards=2) as broker:
        assert broker.url.endswith("/broker")
        for number in range(3):
            with SecureWebWire(broker.url, authority.client()) as web:
                assert greet(web, f"c{number}").reason == 0
                echo(web, f"t{number}", b"x" * 300_000)
                for byte in wire.PING:
                    web.send(bytes([byte]))
                web.expect(wire.PINGRESP)


@pytest.mark.parametrize(
    ("sent", "status", "reason"),
    [
        (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", 404, "websocket_upgrade"),
        (b"GET /mqtt HTTP/1.1\r\nHost: x\r\n\r\n", 426, "websocket_upgrade"),
        (request("x", protocol=None), 400, "websocket_upgrade"),
        (request("x", Sec_WebSocket_Version="8"), 426, "websocket_upgrade"),
        (request("x", Origin="https://evil.example"), 403, "websocket_origin"),
        (b"GET /mqtt HTTP/1.1\r\nCookie: " + b"x" * 10_000, 431, "websocket_upgrade"),
        (wire.connect("no-web"), 400, "websocket_upgrade"),
    ],
)
def test_what_is_no_upgrade_is_answered(broker, sent, status, reason):
    """Does a program that is no MQTT client get an answer that says what to do, then the end?"""
    before = refused(broker, reason)
    with tcp(broker.url) as stream:
        stream.sendall(sent)
        head, body = read_head(stream)
        while more := stream.recv(1 << 16):
            body += more
    assert head.startswith(f"HTTP/1.1 {status} ")
    assert f"Content-Length: {len(body)}" in head
    until(lambda: refused(broker, reason) == before + 1)


def test_half_a_request_has_a_deadline():
    limits = {"connect_timeout": "200ms"}
    with lapwing.Broker(("ws://127.0.0.1:0",), shards=1, limits=limits) as broker, tcp(broker.url) as stream:
        stream.sendall(b"GET /mqtt HTTP/1.1\r\nHost: ")
        assert stream.recv(100) == b""


@pytest.mark.parametrize("origin", ["https://dash.example", "http://127.0.0.1:3000", ""])
def test_pages_that_may_connect(broker, origin):
    with WebWire(broker.url, **({"Origin": origin} if origin else {})) as web:
        assert greet(web, "page").reason == 0


def test_a_page_that_bends_the_dns_is_refused(broker):
    """Is a name of the outside in Host refused on loopback, although the page is of the same host?"""
    with tcp(broker.url) as stream:
        stream.sendall(request("evil.example:80", Origin="http://evil.example"))
        assert read_head(stream)[0].startswith("HTTP/1.1 403 ")


def test_ping_and_close(broker):
    """Is a ping answered with its payload, and a close with its code, before the end?"""
    with WebWire(broker.url) as web:
        greet(web, "closing")
        web.socket.stream.sendall(frame(PING, b"are you there"))
        web.round_trip()
        assert web.socket.pongs == [b"are you there"]
        web.socket.stream.sendall(frame(CLOSE, b"\x03\xe9going"))
        web.expect_end()
        assert web.socket.close_code == 1001


def test_a_broken_frame_is_told_and_the_will_is_published(broker):
    """Is a frame without a mask answered with 1002, counted, and the session ended as by a lost connection?"""
    before = refused(broker, "websocket_frame")
    with WebWire(broker.url) as watcher, WebWire(broker.url) as web:
        greet(watcher, "watcher")
        watcher.subscribe("will")
        web.send(wire.connect("breaker", will=("will", b"gone", 0, False)))
        web.expect(wire.CONNACK)
        web.socket.stream.sendall(frame(BINARY, wire.PING, masked=False))
        web.expect_end()
        assert web.socket.close_code == 1002
        assert watcher.expect(wire.PUBLISH).payload == b"gone"
    until(lambda: refused(broker, "websocket_frame") == before + 1)


def test_a_disconnect_ends_with_a_close_frame(broker):
    """Does the broker say goodbye in both languages?"""
    with WebWire(broker.url) as web:
        greet(web, "twice")
        web.send(wire.connect("twice"))
        assert web.expect(wire.DISCONNECT).reason == 0x82
        web.expect_end()
        assert web.socket.close_code == 1000


def test_a_frame_of_any_length_takes_no_memory(broker):
    """Is an announced length of an exabyte met with patience, and are packets served as they come?"""
    with WebWire(broker.url) as web:
        greet(web, "endless")
        head = frame(BINARY, b"")[:1] + bytes([0x80 | 127]) + (1 << 60).to_bytes(8) + bytes(4)
        web.socket.stream.sendall(head)
        for _ in range(3):
            web.socket.stream.sendall(wire.PING)
            web.expect(wire.PINGRESP)


def test_masks_are_undone_for_every_alignment(broker):
    """Do payloads of each small length arrive as they were sent?"""
    with WebWire(broker.url) as web:
        greet(web, "aligned")
        web.subscribe("aligned")
        for size in range(40):
            payload = bytes(range(size))
            web.socket.stream.sendall(web_socket.frame(BINARY, wire.publish("aligned", payload)))
            assert web.expect(wire.PUBLISH).payload == payload
