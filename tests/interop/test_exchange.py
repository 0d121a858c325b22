"""Do other people's clients exchange QoS 0, 1 and 2 with each other through the broker, in both versions?"""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from clients import ALL
from clients.peer import Peer, Received, Sent

from lapwing import Broker

MESSAGES_PER_QOS = 10


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, int]]:
    """One broker for all pairs: each pair has topics of its own."""
    with Broker(shards=2) as broker:
        parts = urlsplit(broker.url)
        assert parts.hostname
        assert parts.port
        yield parts.hostname, parts.port


@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("subscriber", ALL, ids=lambda peer: f"to-{peer.name}")
@pytest.mark.parametrize("publisher", ALL, ids=lambda peer: f"from-{peer.name}")
def test_exchange(address: tuple[str, int], publisher: Peer, subscriber: Peer, version: int) -> None:
    """Does every message arrive once, in order, unchanged, at the QoS it was published with?"""
    for peer in (publisher, subscriber):
        if reason := peer.missing():
            pytest.skip(reason)
    topic = f"interop/{publisher.name}/{subscriber.name}/{version}"
    messages = [
        Sent(f"{topic}/{qos}", f"{number} Kiebitz \N{SNOWMAN} {'x' * number * 40}".encode(), qos)
        for qos in (0, 1, 2)
        for number in range(MESSAGES_PER_QOS)
    ]
    with subscriber.subscribe(address, version, f"{topic}/#") as subscription:
        publisher.publish(address, version, messages)
        received = subscription.receive(len(messages))
    for qos in (0, 1, 2):
        expected = [Received(m.topic, m.payload, m.qos) for m in messages if m.qos == qos]
        assert [m for m in received if m.topic == f"{topic}/{qos}"] == expected
