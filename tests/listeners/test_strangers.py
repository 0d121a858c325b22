"""Half handshakes and half heads before a CONNECT: counted, bounded, and in nobody's way."""

from __future__ import annotations

import contextlib

import wire
from carriers import SecureWebWire, StreamWire, greet, tcp, tls
from wire import until

import lapwing

RECORD = b"\x16\x03\x01\x40\x00"
"""The head of a TLS record of 16 KiB with a part of a handshake."""
HALF_HELLO = RECORD + b"\x01\x00\xff\xf0\x03\x03" + bytes(16_384 - 6) + RECORD + bytes(12_000)
"""Almost half of a ClientHello of 64 KiB, and less than what a handshake may bring."""


def metric(broker: lapwing.Broker, name: str, label: str = "") -> float:
    """The sum of a metric over its labels, or of those with this one."""
    return sum(value for key, value in broker.metrics().items() if key.split("{")[0] == name and label in key)


def test_half_hellos_are_counted(authority):
    """Are a hundred halves of ClientHellos in the strangers' account, bounded there, and in nobody else's?"""
    limits = {"connect_timeout": "10m", "strangers_bytes_max": "2MiB"}
    listeners = [{"url": "tls://127.0.0.1:0", **authority.listener}, {"url": "wss://127.0.0.1:0", **authority.listener}]
    with lapwing.Broker(listeners=listeners, shards=2, limits=limits) as broker:
        flood = []
        for _ in range(100):
            flood.append(tcp(broker.url))
            with contextlib.suppress(ConnectionError):
                flood[-1].sendall(HALF_HELLO)
        until(lambda: metric(broker, "lapwing_strangers_refused_total", "bytes") >= 50)
        assert 1_000_000 < metric(broker, "lapwing_strangers_bytes") <= 2 << 20
        assert metric(broker, "lapwing_memory_bytes", "buffers") == 0
        context = authority.client()
        with StreamWire(tls(broker.urls[0], context)) as client, SecureWebWire(broker.urls[1], context) as web:
            assert greet(client, "beside").reason == 0
            assert greet(web, "web").reason == 0
        for stream in flood:
            stream.close()
        until(lambda: metric(broker, "lapwing_strangers") == 0)
        assert metric(broker, "lapwing_strangers_bytes") == 0


def test_the_first_bytes_decide_over_tls(authority):
    """Is a first packet that is no CONNECT refused at its first byte there too, and a large CONNECT at its length?"""
    listener = {"url": "tls://127.0.0.1:0", **authority.listener}
    with lapwing.Broker(listeners=[listener], shards=1, limits={"connect_timeout": "10m"}) as broker:
        for first, reason in ((b"\x30", "no_connect"), (b"\x10\xff\xff\x7f", "connect_bytes")):
            with StreamWire(tls(broker.url, authority.client())) as client:
                client.socket.sendall(first)
                client.expect_end()
            assert metric(broker, "lapwing_strangers_refused_total", reason) == 1


def test_a_large_will_needs_a_larger_limit():
    """Does a will beyond the limit of a CONNECT come in where that is raised, and is it refused where it is not?"""
    will = wire.connect("dying", will=("wills", b"x" * 65_535, 0, False))
    for size, answer in (("64KiB", 0x95), ("256KiB", 0)):
        with (
            lapwing.Broker(shards=2, limits={"connect_bytes_max": size}) as broker,
            wire.Wire(broker.url) as client,
        ):
            client.send(will)
            assert client.expect(wire.CONNACK).reason == answer
