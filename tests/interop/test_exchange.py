"""Do other people's clients exchange QoS 0, 1 and 2 with each other through the broker, in both versions?"""

from __future__ import annotations

import pytest
from clients.message import Message
from clients.peer import VERSIONS, Connected, Peer
from clients.roster import ALL

MESSAGES_PER_QOS = 10


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("subscriber", ALL, ids=lambda peer: f"to-{peer.name}")
@pytest.mark.parametrize("publisher", ALL, ids=lambda peer: f"from-{peer.name}")
def test_exchange(connected: Connected, publisher: Peer, subscriber: Peer, version: int) -> None:
    """Does every message arrive once, in order, unchanged, at the QoS it was published with?"""
    topic = f"exchange/{publisher.name}/{subscriber.name}/{version}"
    messages = [
        Message(f"{topic}/{qos}", f"{number} Kiebitz \N{SNOWMAN} {'x' * number * 40}".encode(), qos)
        for qos in (0, 1, 2)
        for number in range(MESSAGES_PER_QOS)
    ]
    inbox = connected(subscriber, "tcp", version)
    inbox.subscribe(f"{topic}/#")
    connected(publisher, "tcp", version).publish(messages)
    received = inbox.receive(len(messages))
    for qos in (0, 1, 2):
        assert [m for m in received if m.topic == f"{topic}/{qos}"] == [m for m in messages if m.qos == qos]
