"""Does each client do all it can over each transport it has, in both versions?"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import pytest
from clients.endpoint import SCHEMES, Endpoints
from clients.message import NONE, Message, Properties
from clients.peer import VERSIONS, Connected, Peer
from clients.roster import ALL, PAHO

MESSAGES_PER_QOS = 20
PROPERTIES = Properties(
    is_text=True,
    content_type="text/plain; charset=utf-8",
    response_topic="answers/\N{SNOWMAN}",
    correlation=b"7 Kiebitze",
    user=(("site", "Cork"), ("site", "Kerry"), ("Einheit", "dBm")),
)


def _ways(nightly: Collection[str] = ()) -> Iterator[object]:
    for peer in ALL:
        for scheme in SCHEMES:
            marks = [pytest.mark.nightly] if scheme in nightly else []
            if scheme in peer.schemes:
                for version in VERSIONS:
                    yield pytest.param(peer, scheme, version, marks=marks, id=f"{peer.name}-{scheme}-{version}")


each_way = pytest.mark.parametrize(("peer", "scheme", "version"), list(_ways()))
# A client of its own for each: by day over what is under all transports, and over all there is in layers.
least_and_most = pytest.mark.parametrize(("peer", "scheme", "version"), list(_ways(nightly=("tls", "ws"))))


def _text(number: int) -> bytes:
    """From one byte to several WebSocket frames, TLS records and reads of a socket."""
    return f"{number} Kiebitz \N{SNOWMAN} {'x' * number * number * 50}".encode()


def _properties(version: int) -> Properties:
    return PROPERTIES if version == 5 else NONE


@each_way
def test_all_qualities_of_service_both_ways(connected: Connected, peer: Peer, scheme: str, version: int) -> None:
    """Do messages that a client sends to itself come back once each, in order, with every property?"""
    topic = f"transports/{peer.name}/{scheme}/{version}"
    messages = [
        Message(f"{topic}/{qos}", _text(number), qos, properties=_properties(version))
        for qos in (0, 1, 2)
        for number in range(MESSAGES_PER_QOS)
    ]
    session = connected(peer, scheme, version)
    session.subscribe(f"{topic}/#")
    session.publish(messages)
    received = session.receive(len(messages))
    for qos in (0, 1, 2):
        assert [m for m in received if m.topic == f"{topic}/{qos}"] == [m for m in messages if m.qos == qos]


@each_way
def test_a_retained_message(connected: Connected, peer: Peer, scheme: str, version: int) -> None:
    """Does a later subscriber get what was retained, marked as such?"""
    topic = f"retained/{peer.name}/{scheme}/{version}"
    message = Message(topic, b"kept", 1, retain=True, properties=_properties(version))
    session = connected(peer, scheme, version)
    session.publish([message])
    session.subscribe(topic)
    assert session.receive(1) == [message]


@least_and_most
def test_a_will(connected: Connected, endpoints: Endpoints, peer: Peer, scheme: str, version: int) -> None:
    """Is the will of a client published when its connection breaks?"""
    topic = f"wills/{peer.name}/{scheme}/{version}"
    watcher = connected(PAHO, "tcp", version)
    watcher.subscribe(topic)
    will = Message(topic, b"gone", 2, properties=_properties(version))
    with peer.connect(endpoints[scheme], version, will) as session:
        session.subscribe(f"{topic}/own")
        session.die()
    assert watcher.receive(1) == [will]


@least_and_most
def test_an_orderly_end(endpoints: Endpoints, peer: Peer, scheme: str, version: int) -> None:
    """Does a client that says goodbye find nothing wrong?"""
    with peer.connect(endpoints[scheme], version) as session:
        session.subscribe(f"ends/{peer.name}/{scheme}/{version}")
        session.end()
