"""What each listener has of its own: connections, rate, packet size, who may come; and several side by side."""

from __future__ import annotations

import pytest
import wire
from carriers import SecureWebWire, StreamWire, greet, tcp, tls, unix
from web_socket import WebWire
from wire import CONNACK, until

import lapwing
from lapwing.errors import ConfigError

MAXIMUM_PACKET_SIZE = b"\x27"


def refused(broker: lapwing.Broker, reason: str) -> float:
    return broker.metrics()[f'lapwing_connections_refused_total{{reason="{reason}"}}']


def test_several_of_each_side_by_side(authority, tmp_path):
    """Do a client of each kind hear each other through one broker?"""
    listeners = [
        {"url": "tcp://127.0.0.1:0"},
        {"url": "tcp://[::1]:0"},
        {"url": "tls://127.0.0.1:0", **authority.listener},
        {"url": "ws://127.0.0.1:0"},
        {"url": "wss://127.0.0.1:0", **authority.listener},
        {"url": f"unix://{tmp_path}/a.sock"},
        {"url": f"unix://{tmp_path}/b.sock"},
    ]
    context = authority.client()
    with lapwing.Broker(("tcp://127.0.0.1:0",), listeners=listeners, shards=2) as broker:
        urls = broker.urls
        schemes = [url.partition("://")[0] for url in urls]
        assert schemes == ["tcp", "tcp", "tcp", "tls", "ws", "wss", "unix", "unix"]
        clients: list[wire.Wire] = [
            *(StreamWire(tcp(url)) for url in urls[:3]),
            StreamWire(tls(urls[3], context)),
            WebWire(urls[4]),
            SecureWebWire(urls[5], context),
            *(StreamWire(unix(url.removeprefix("unix://"))) for url in urls[6:]),
        ]
        for number, client in enumerate(clients):
            assert greet(client, f"c{number}").reason == 0
            client.subscribe("all")
        for number, sender in enumerate(clients):
            sender.send(wire.publish("all", str(number).encode()))
            for client in clients:
                assert client.expect(wire.PUBLISH).payload == str(number).encode()
        metrics = broker.metrics()
        assert [metrics[f'lapwing_listener_connections{{listener="{url}"}}'] for url in urls] == [1.0] * 8
        for client in clients:
            client.close()
        until(lambda: broker.metrics()["lapwing_connections"] == 0)
        assert broker.metrics()[f'lapwing_listener_connections{{listener="{urls[5]}"}}'] == 0


def test_connections_of_one_listener(authority):
    """Is one connection too many closed and counted, at that listener alone, and is there room again afterwards?"""
    listeners = [{"url": "tcp://127.0.0.1:0", "connections_max": 2}, {"url": "tcp://127.0.0.1:0"}]
    with lapwing.Broker(listeners=listeners, shards=2) as broker:
        small, large = broker.urls
        held = [StreamWire(tcp(small)) for _ in range(2)]
        for number, client in enumerate(held):
            assert greet(client, f"held{number}").reason == 0
        with StreamWire(tcp(small)) as third:
            third.expect_end()
        until(lambda: refused(broker, "listener_connections_max") == 1)
        with StreamWire(tcp(large)) as other:
            assert greet(other, "other").reason == 0
        held.pop().close()

        def there_is_room() -> bool:
            with StreamWire(tcp(small)) as again:
                try:
                    return greet(again, "again").reason == 0
                except (AssertionError, ConnectionError):
                    return False

        until(there_is_room)
        held.pop().close()


def test_connects_per_address():
    """Is the rate of one source bounded, and another source let in meanwhile?"""
    listener = {"url": "tcp://127.0.0.1:0", "connects_per_address_per_s": 2}
    with lapwing.Broker(listeners=[listener], shards=1) as broker:
        streams = [tcp(broker.url) for _ in range(20)]
        until(lambda: refused(broker, "address_rate") >= 10)
        host, port = "127.0.0.1", int(broker.url.rpartition(":")[2])
        other = wire.socket.create_connection((host, port), timeout=wire.TIMEOUT_S, source_address=("127.0.0.9", 0))
        with StreamWire(other) as client:
            assert greet(client, "other").reason == 0
        for stream in streams:
            stream.close()


def test_packet_size_of_one_listener():
    """Does each listener announce and keep its own Maximum Packet Size, larger or smaller than the broker's?"""
    listeners = [
        {"url": "tcp://127.0.0.1:0", "packet_bytes_max": "1KiB"},
        {"url": "tcp://127.0.0.1:0"},
        {"url": "tcp://127.0.0.1:0", "packet_bytes_max": "256KiB"},
    ]
    sizes = (1 << 10, 1 << 16, 1 << 18)
    streams = {"all": "t"}
    limits = {"packet_bytes_max": "64KiB"}
    with lapwing.Broker(listeners=listeners, shards=2, limits=limits, streams=streams) as broker:
        for url, size in zip(broker.urls, sizes, strict=True):
            with StreamWire(tcp(url)) as client:
                connack = greet(client, f"c{size}")
                assert MAXIMUM_PACKET_SIZE + size.to_bytes(4) in connack.body
                client.send(wire.publish("t", b"x" * (size - 20), qos=1))
                client.expect(wire.PUBACK)
                client.send(wire.publish("t", b"x" * size, qos=1))
                assert client.expect(wire.DISCONNECT).reason == 0x95


@pytest.mark.parametrize("version", [4, 5])
def test_names_are_required_where_anonymous_is_off(authority, version):
    settings = {"client_ca": authority.ca_file, "client_certificate": "optional", "identity": "certificate-san"}
    listener = {"url": "wss://127.0.0.1:0", **authority.listener, **settings, "anonymous": False}
    with lapwing.Broker(listeners=[listener], shards=2) as broker:
        with SecureWebWire(broker.url, authority.client(), version) as client:
            client.send(wire.connect("nameless", version=version))
            assert client.expect(CONNACK).reason == {4: 5, 5: 0x87}[version]
        with SecureWebWire(broker.url, authority.client("any", san="seven.example"), version) as client:
            assert greet(client, "seven").reason == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"listen": ["tcp://0.0.0.0:0"]}, "no open listener beyond loopback without authentication"),
        ({"listeners": [{"url": "ws://0.0.0.0:0"}]}, "no open listener beyond loopback without authentication"),
        ({"listeners": [{"url": "tcp://127.0.0.1:0", "anonymous": False}]}, "nobody could connect"),
        ({"listen": ["tls://127.0.0.1:0"]}, "TLS needs certificate and key"),
        ({"listeners": [{"url": "tls://127.0.0.1:0"}]}, "certificate is missing"),
        ({"listen": []}, "broker.listen = "),
    ],
)
def test_doors_that_are_not_opened(arguments, message):
    with pytest.raises(ConfigError, match=message):
        lapwing.Broker(**arguments)


def test_a_door_may_be_opened_on_purpose():
    """Does `anonymous = true` open a listener to other machines?"""
    with (
        lapwing.Broker(listeners=[{"url": "tcp://0.0.0.0:0", "anonymous": True}], shards=1) as broker,
        StreamWire(tcp(broker.url.replace("0.0.0.0", "127.0.0.1"))) as client,
    ):
        assert greet(client, "anybody").reason == 0
