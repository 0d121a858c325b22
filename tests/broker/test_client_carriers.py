"""Our own client against our own listeners, over everything that both speak."""

from __future__ import annotations

import os
import queue
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme

from lapwing import Broker, Client
from lapwing.client import Consumer, Message, Publisher
from lapwing.errors import ConnectError, LapwingError
from lapwing.shell.link import Link
from lapwing.shell.verbs.connect import Connect

CARRIERS = ("tcp", "tls", "ws", "wss")


def authorities(carrier: str, files: Path) -> Path | None:
    """Whom to trust over a carrier; nobody has to be where nothing is encrypted."""
    return files / "ca.pem" if carrier in ("tls", "wss") else None


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``ca.pem``, and ``server.pem`` with certificate and key for 127.0.0.1."""
    folder = tmp_path_factory.mktemp("certificates")
    authority = trustme.CA()
    authority.cert_pem.write_to_path(folder / "ca.pem")
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(folder / "server.pem")
    return folder


@pytest.fixture(scope="module")
def urls(files: Path) -> Iterator[dict[str, str]]:
    """The broker's addresses by scheme."""
    certificate = {"certificate": str(files / "server.pem"), "key": str(files / "server.pem")}
    listeners = [
        {"url": f"{carrier}://127.0.0.1:0", **(certificate if carrier in ("tls", "wss") else {})}
        for carrier in CARRIERS
    ]
    with Broker(listeners=listeners, shards=2) as broker:
        yield {url.partition(":")[0]: url for url in broker.urls}


@pytest.mark.parametrize("qos", [0, 2])
@pytest.mark.parametrize("carrier", CARRIERS)
def test_messages_large_and_small_come_whole_and_in_order(
    urls: dict[str, str], files: Path, carrier: str, qos: int
) -> None:
    sizes = [0, 1, 300_000, 65_536, *range(1, 200), 1_000_000]
    with Client(urls[carrier], ca=authorities(carrier, files), timeout_s=30.0) as client:
        client.subscribe("t", qos=qos)
        for size in sizes:
            client.publish("t", bytes([size % 251]) * size, qos=qos)
        received = [client.receive(30.0) for _ in sizes]
        assert [message and message.payload for message in received] == [bytes([s % 251]) * s for s in sizes]
        client.flush(30.0)


@pytest.mark.parametrize("carrier", ["tls", "wss"])
def test_a_broker_that_nobody_vouches_for_is_not_talked_to(urls: dict[str, str], files: Path, carrier: str) -> None:
    with pytest.raises(ConnectError, match="TLS"):
        Client(urls[carrier]).connect()
    with pytest.raises(ConnectError, match="TLS"):
        Client(urls[carrier].replace("127.0.0.1", "localhost"), ca=files / "ca.pem").connect()


def test_a_pipe_in_place_of_authorities_is_not_waited_for(urls: dict[str, str], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "ca.pem")
    with pytest.raises(LapwingError, match=r"ca\.pem cannot be used for TLS: it is no file: it is a pipe"):
        Client(urls["tls"], ca=tmp_path / "ca.pem").connect()


def test_another_path_is_no_broker(urls: dict[str, str]) -> None:
    with pytest.raises(ConnectError, match="no WebSocket"):
        Client(f"{urls['ws']}x").connect()


@pytest.mark.parametrize("carrier", CARRIERS)
def test_a_link_with_a_thread_goes_over_all_of_them(urls: dict[str, str], files: Path, carrier: str) -> None:
    """Consumers and publishers: the thread that keeps their connection, in Rust."""
    authority = authorities(carrier, files)
    with (
        Consumer(urls[carrier], f"linked/{carrier}", ca=authority) as consumer,
        Publisher(urls[carrier], ca=authority) as publisher,
    ):
        sizes = [0, 1, 300_000, 65_536, *range(1, 200)]
        for size in sizes:
            publisher.publish(f"linked/{carrier}", bytes(size))
        publisher.flush(30.0)
        assert [len(message.payload) for _, message in zip(sizes, consumer, strict=False)] == sizes


@pytest.mark.parametrize("carrier", CARRIERS)
def test_the_shell_goes_over_all_of_them(urls: dict[str, str], files: Path, carrier: str) -> None:
    heard: queue.Queue[Message] = queue.Queue()

    class Ears:
        def on_message(self, link: Link, message: Message) -> None:
            heard.put(message)

        def on_lost(self, link: Link, error: LapwingError) -> None:
            raise error

    authority = authorities(carrier, files)
    link = Link(Connect("shell", ca=authority and str(authority)), urls[carrier], 30.0, Ears())
    assert not link.open()
    link.ask(lambda client: client.subscribe("shell", qos=1))
    link.ask(lambda client: client.publish("shell", bytes(100_000), qos=1))
    assert len(heard.get(timeout=30).payload) == 100_000
    link.close()
