"""Wills: stored, published when a connection ends without a word, taken back by DISCONNECT, delayed."""

from __future__ import annotations

import time

import pytest
import wire
from peer import pass_time, properties, properties_of

SHARDS = 1  # so that a message published later cannot overtake a will


@pytest.fixture
def watcher(join, name):
    peer = join("watcher")
    peer.subscribe_to((f"{name}/#", 2))
    return peer


def until_closed(peer):
    """The broker has seen the end of the connection once it has closed its own side."""
    peer.socket.shutdown(1)
    assert peer.until_end() == []


@pytest.mark.statement(4, "MQTT-3.1.2-8", "MQTT-3.1.2-9", "MQTT-3.1.2-10")
@pytest.mark.statement(5, "MQTT-3.1.2-7", "MQTT-3.1.2-8", "MQTT-3.1.2-10")
@pytest.mark.parametrize("qos", [0, 1, 2])
def test_a_broken_connection_publishes_the_will_once(join, watcher, version, name, qos):
    peer = join("a", keep=True, will=(f"{name}/will", b"gone", qos, False))
    until_closed(peer)
    assert (found := watcher.message(b"gone")).topic == f"{name}/will"
    assert found.qos == qos
    again = join("a", keep=True)
    until_closed(again)
    join().publish(f"{name}/later", b"later")
    assert watcher.messages_until(b"later") == [], "the will was used up"


@pytest.mark.statement(4, "MQTT-3.1.2-8")
@pytest.mark.statement(5, "MQTT-3.1.2-8")
@pytest.mark.parametrize("end", ["violation", "takeover"])
def test_other_ends_publish_it_too(join, watcher, version, name, end):
    peer = join("a", will=(f"{name}/will", end.encode(), 0, False))
    if end == "violation":
        peer.send(b"\xc1\x00")
    else:
        join("a")
    assert watcher.message().payload == end.encode()


@pytest.mark.statement(5, "MQTT-3.1.2-8")
def test_disconnect_0x04_asks_for_the_will(join, watcher, version, name):
    peer = join("a", will=(f"{name}/will", b"please", 0, False))
    peer.send(wire.packet(0xE0, b"\x04"))
    assert watcher.message().payload == b"please"


@pytest.mark.statement(4, "MQTT-3.14.4-3", "MQTT-3.1.2-8", "MQTT-3.1.2-10")
@pytest.mark.statement(5, "MQTT-3.14.4-3", "MQTT-3.1.2-8", "MQTT-3.1.2-10")
def test_disconnect_takes_the_will_back(join, watcher, version, name):
    join("a", keep=True, will=(f"{name}/will", b"never", 1, True)).leave()
    until_closed(join("a", keep=True))
    join().publish(f"{name}/later", b"later")
    assert watcher.messages_until(b"later") == []


@pytest.mark.statement(4, "MQTT-3.1.2-12")
def test_without_a_will_nothing_is_published(join, watcher, version, name):
    until_closed(join("a", keep=True, will=(f"{name}/will", b"first", 0, False)))
    watcher.message(b"first")
    until_closed(join("a", keep=True))
    join().publish(f"{name}/later", b"later")
    assert watcher.messages_until(b"later") == []


@pytest.mark.statement(4, "MQTT-3.1.2-9", "MQTT-3.1.2-16", "MQTT-3.1.2-17")
@pytest.mark.statement(5, "MQTT-3.1.2-14", "MQTT-3.1.2-15")
@pytest.mark.parametrize("retain", [False, True])
def test_the_will_is_retained_if_it_says_so(join, watcher, version, name, retain):
    until_closed(join("a", will=(f"{name}/will", b"last words", 1, retain)))
    watcher.message(b"last words")
    late = join()
    late.publish(f"{name}/marker", b"marker", retain=True)
    late.subscribe_to(f"{name}/will")
    late.send(wire.subscribe(f"{name}/marker", packet_id=2, version=version))
    late.expect(wire.SUBACK) if not retain else None
    expected = [b"last words", b"marker"] if retain else [b"marker"]
    found = []
    while len(found) < len(expected):
        packet = late.receive()
        if packet.kind == wire.PUBLISH:
            found.append((packet.payload, packet.retain))
    assert found == [(payload, True) for payload in expected]


@pytest.mark.statement(5, "MQTT-3.1.3-10")
def test_the_will_has_its_properties_and_their_order(join, watcher, version, name):
    pairs = [("b", "1"), ("a", "2"), ("b", "1"), ("", "")]
    section = properties(user=pairs, content_type="text/plain", response_topic="r", correlation_data=b"\0\1")
    until_closed(join("a", will=(f"{name}/will", b"x", 0, False), will_properties=section))
    assert properties_of(watcher.message()) == {
        "user": pairs,
        "content_type": ["text/plain"],
        "response_topic": ["r"],
        "correlation_data": [b"\0\1"],
    }


@pytest.mark.statement(5, "MQTT-3.1.2-8", "MQTT-3.1.3-9")
def test_a_delayed_will_comes_late(join, watcher, version, name):
    delay, began = properties(will_delay=1), time.monotonic()
    until_closed(join("a", keep=True, will=(f"{name}/will", b"late", 0, False), will_properties=delay))
    assert watcher.message().payload == b"late"
    assert time.monotonic() - began >= 1.0


@pytest.mark.statement(5, "MQTT-3.1.2-8", "MQTT-3.1.3-9")
def test_a_delayed_will_of_who_comes_back_in_time_never_comes(join, watcher, version, name):
    """On a machine on which coming back takes longer than the delay, the delay is longer."""
    for delay_s in (2, 8, 32):
        delay, began = properties(will_delay=delay_s), time.monotonic()
        for who in ("returns", "stays-away"):
            topic = f"{name}/will/{delay_s}"
            until_closed(join(who, keep=True, will=(topic, who.encode(), 0, False), will_properties=delay))
        join("returns", keep=True)
        is_in_time = time.monotonic() - began < delay_s
        # The will that is sent was due after the one that is not.
        wills = [*watcher.messages_until(b"stays-away")]
        if is_in_time:
            assert wills == []
            return
    raise AssertionError("coming back took longer than half a minute")


@pytest.mark.statement(5, "MQTT-3.1.2-8")
def test_the_end_of_the_session_does_not_wait_for_the_delay(join, watcher, version, name):
    delay = properties(will_delay=1000)
    until_closed(join("a", keep=True, will=(f"{name}/will", b"ended", 0, False), will_properties=delay))
    join("a", clean=True)
    assert watcher.message().payload == b"ended"


@pytest.mark.statement(4, "MQTT-3.1.2-8")
@pytest.mark.statement(5, "MQTT-3.1.2-7", "MQTT-3.1.2-8")
def test_the_will_is_not_published_while_the_connection_is_open(join, watcher, version, name):
    join("a", will=(f"{name}/will", b"early", 0, False))
    pass_time(0.2)
    join().publish(f"{name}/now", b"now")
    assert watcher.messages_until(b"now") == []


@pytest.mark.statement(4, "MQTT-3.1.2-8", "MQTT-4.8.0-1")
def test_a_disconnect_with_content_is_no_farewell(join, watcher, version, name):
    peer = join("a", will=(f"{name}/will", b"violated", 0, False))
    peer.send(wire.packet(0xE0, b"\0"))
    peer.closed()
    assert watcher.message().payload == b"violated"
