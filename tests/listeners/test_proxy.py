"""PROXY headers: required from the sources trusted, not understood from any other."""

from __future__ import annotations

import contextlib
import ssl
import struct
import time

import pytest
import wire
from carriers import StreamWire, echo, greet, tcp
from wire import until

import lapwing

V1 = b"PROXY TCP4 192.0.2.7 198.51.100.1 56324 1883\r\n"
SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"


def v2(command: int, family: int, rest: bytes) -> bytes:
    return SIGNATURE + bytes([command, family]) + struct.pack("!H", len(rest)) + rest


V2 = v2(0x21, 0x11, bytes([192, 0, 2, 7, 198, 51, 100, 1]) + struct.pack("!HH", 56324, 1883))
V2_IPV6 = v2(0x21, 0x21, bytes(15) + b"\1" + bytes(16) + struct.pack("!HH", 1, 2))
LOCAL = v2(0x20, 0x00, b"")


def broker_with(*, connect_timeout: str = "10m", **settings: object) -> lapwing.Broker:
    listener = {"url": "tcp://127.0.0.1:0", "proxy_protocol_from": ["127.0.0.0/8"], **settings}
    return lapwing.Broker(listeners=[listener], shards=2, limits={"connect_timeout": connect_timeout})


def refused(broker: lapwing.Broker, reason: str) -> float:
    return broker.metrics()[f'lapwing_connections_refused_total{{reason="{reason}"}}']


@pytest.mark.parametrize(
    "header",
    [V1, V2, V2_IPV6, LOCAL, b"PROXY UNKNOWN\r\n", v2(0x21, 0x11, V2[16:] + b"\x04\0\1x")],
    ids=["v1", "v2", "v2-ipv6", "local", "unknown", "tlv"],
)
@pytest.mark.parametrize("in_pieces", [False, True])
def test_a_header_is_taken_off(header, in_pieces):
    """Does MQTT begin right behind the header, in the same piece or byte by byte?"""
    with broker_with() as broker, StreamWire(tcp(broker.url)) as client:
        if in_pieces:
            for byte in header:
                client.socket.sendall(bytes([byte]))
        else:
            client.socket.sendall(header)
        assert greet(client, "c").reason == 0
        echo(client, "t", b"x" * 100_000)


@pytest.mark.parametrize(
    "sent", [wire.connect("c"), b"GET / HTTP/1.1\r\n", V1.replace(b"\r", b""), V2.replace(b"\x21\x11", b"\x31\x11")]
)
def test_a_trusted_source_must_send_one(sent):
    with broker_with() as broker:
        with StreamWire(tcp(broker.url)) as client:
            client.socket.sendall(sent)
            assert client.socket.recv(100) == b""
        until(lambda: refused(broker, "proxy_header") == 1)


def test_half_a_header_has_a_deadline():
    with broker_with(connect_timeout="200ms") as broker:
        with tcp(broker.url) as stream, contextlib.suppress(ConnectionResetError):
            stream.sendall(V1[:20])
            assert stream.recv(100) == b""
        until(lambda: broker.metrics()['lapwing_connections_closed_total{reason="connect_timeout"}'] == 1)


def test_others_are_not_believed():
    """Does a header from a source that is not trusted end the connection, as any bytes that are no packet do?"""
    with broker_with(proxy_protocol_from=["10.0.0.0/8"]) as broker:
        with StreamWire(tcp(broker.url)) as client:
            # Its first byte is no CONNECT's.
            client.socket.sendall(V1[:1])
            assert client.socket.recv(100) == b""
        with StreamWire(tcp(broker.url)) as client:
            assert greet(client, "c").reason == 0


def test_the_source_it_names_is_the_one_that_is_limited():
    """Do two clients behind one proxy have their own rates, and the proxy itself none?"""
    with broker_with(connects_per_address_per_s=1) as broker:
        # The proxy's own checks of health are nobody's connections.
        for number in range(3):
            with StreamWire(tcp(broker.url)) as client:
                client.socket.sendall(LOCAL)
                assert greet(client, f"health{number}").reason == 0
        other = V1.replace(b"192.0.2.7", b"192.0.2.8")
        count = 30
        streams = [tcp(broker.url) for _ in range(1 + count)]
        # Which of the thirty comes first is the kernel's; a further one may come in with each second that this takes.
        began = time.monotonic()
        for number, (stream, header) in enumerate(zip(streams, (other, *[V1] * count), strict=True)):
            stream.sendall(header + wire.connect(f"c{number}"))
        assert streams[0].recv(1) == b"\x20"
        answers = [stream.recv(1) for stream in streams[1:]]
        accepted = answers.count(b"\x20")
        assert 1 <= accepted <= 1 + time.monotonic() - began
        assert answers.count(b"") == count - accepted
        until(lambda: refused(broker, "address_rate") == count - accepted)
        for stream in streams:
            stream.close()


def test_a_header_comes_before_tls(authority):
    """Is the header outside of TLS, as proxies that pass TLS through send it?"""
    with broker_with(url="tls://127.0.0.1:0", **authority.listener) as broker:
        stream = tcp(broker.url)
        stream.sendall(V2)
        secure: ssl.SSLSocket = authority.client().wrap_socket(stream, server_hostname="localhost")
        with StreamWire(secure) as client:
            assert greet(client, "c").reason == 0
            echo(client, "t", b"m")
