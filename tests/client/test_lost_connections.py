"""What becomes of a consumer's messages when its connection breaks: never lost, never shown twice without need."""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest
import scripted as s
from scripted import Connection, ScriptedBroker
from threads import Threads

from lapwing.client import Consumer
from lapwing.errors import LapwingError

Until = Callable[[Callable[[], bool]], None]


def consumer_of(scripted: ScriptedBroker, qos: int = 1) -> Consumer:
    return Consumer(scripted.url, "a", qos=qos, report=False, back_off_s=(0.01, 0.05))


def break_off(client: Connection) -> None:
    client.stream.shutdown(socket.SHUT_RDWR)


def test_what_nobody_has_begun_is_given_back(scripted: ScriptedBroker, pool: Threads, until: Until) -> None:
    """The session is there: the broker sends all again, and what was in work is not acknowledged twice."""
    consumer = consumer_of(scripted)
    connected = pool.submit(consumer.connect)
    with scripted.next() as client:
        client.accept()
        client.grant()
        connected.result(s.TIMEOUT_S)
        for packet_id in (1, 2, 3):
            client.publish("a", b"%d" % packet_id, packet_id=packet_id)
        messages = consumer.messages()
        assert next(messages).payload == b"1"
        until(lambda: consumer.counters.received == 3)
        break_off(client)
    with scripted.next() as client:
        client.accept(session_present=True)
        client.grant()
        until(lambda: consumer.counters.phase == "up")
        assert (consumer.counters.waiting, consumer.counters.returned) == (0, 2)
        for packet_id in (2, 3):
            client.publish("a", b"%d" % packet_id, packet_id=packet_id, dup=True)
        again = [next(messages) for _ in range(2)]
        assert [(message.payload, message.dup) for message in again] == [(b"2", True), (b"3", True)]
        # Message 1 was finished when its successor was asked for: nothing is said about it here.
        assert client.read().packet_id == 2
        assert consumer.counters.late == 1
        consumer.close()
        assert [packet.kind for packet in (client.read(), client.read())] == [s.PUBACK, s.DISCONNECT]


def test_what_the_broker_has_forgotten_is_kept(scripted: ScriptedBroker, pool: Threads, until: Until) -> None:
    """The session is gone: what waited here is worked on all the same, and not acknowledged."""
    consumer = consumer_of(scripted)
    connected = pool.submit(consumer.connect)
    with scripted.next() as client:
        client.accept()
        client.grant()
        connected.result(s.TIMEOUT_S)
        client.publish("a", b"1", packet_id=1)
        until(lambda: consumer.counters.received == 1)
        break_off(client)
    until(lambda: consumer.counters.phase == "away")
    assert list(consumer.messages(timeout_s=0.05)) == [], "nobody begins what may be somebody else's"
    with scripted.next() as client:
        client.accept(session_present=False)
        client.grant()
        assert next(consumer.messages()).payload == b"1"
        consumer.close()
        assert client.read().kind == s.DISCONNECT
    assert (consumer.counters.late, consumer.counters.returned) == (1, 0)


@pytest.mark.parametrize("finished_while_away", [True, False])
def test_qos_2_is_shown_once(scripted: ScriptedBroker, pool: Threads, until: Until, finished_while_away: bool) -> None:
    """The broker repeats a message that is in work: it is not shown again, and answered when it is done."""
    consumer = consumer_of(scripted, qos=2)
    connected = pool.submit(consumer.connect)
    with scripted.next() as client:
        client.accept()
        client.grant(2)
        connected.result(s.TIMEOUT_S)
        client.publish("a", b"1", qos=2, packet_id=9)
        messages = consumer.messages(timeout_s=0.3)
        until(lambda: consumer.counters.received == 1)
        assert next(messages).payload == b"1"
        break_off(client)
    until(lambda: consumer.counters.phase == "away")
    if finished_while_away:
        assert list(messages) == []
    with scripted.next() as client:
        client.accept(session_present=True)
        client.grant(2)
        client.publish("a", b"1", qos=2, packet_id=9, dup=True)
        if not finished_while_away:
            assert client.is_silent()
            assert list(messages) == []
        answer = client.read()
        assert (answer.kind, answer.packet_id) == (s.PUBREC, 9)
        assert consumer.counters.received == 1
        consumer.abort()


@pytest.mark.parametrize("session_present", [True, False])
def test_more_than_the_mark_before_suback(scripted: ScriptedBroker, pool: Threads, session_present: bool) -> None:
    """A resumed session pours out what it kept before it answers SUBSCRIBE: does the consumer begin all the same?"""
    consumer = Consumer(scripted.url, "a", client_id="a", session_expiry_s=60, high=3, low=1, report=False)
    connected = pool.submit(consumer.connect)
    with scripted.next() as client:
        client.accept(session_present=session_present)
        for packet_id in range(1, 11):
            client.publish("a", b"%d" % packet_id, packet_id=packet_id)
        if session_present:
            connected.result(s.TIMEOUT_S)
        else:
            client.grant()
            connected.result(s.TIMEOUT_S)
        messages = consumer.messages()
        assert [int(next(messages).payload) for _ in range(10)] == list(range(1, 11))
        if session_present:
            client.grant()
        consumer.abort()


def test_a_session_taken_over_ends_it(scripted: ScriptedBroker, pool: Threads) -> None:
    """Two clients of one name would throw each other out for ever: is that an error instead?"""
    consumer = consumer_of(scripted)
    connected = pool.submit(consumer.connect)
    with scripted.next() as client:
        client.accept()
        client.grant()
        connected.result(s.TIMEOUT_S)
        client.send(b"\xe0\x02\x8e\x00")
        with pytest.raises(LapwingError, match="Session taken over"):
            next(consumer.messages())


def test_the_broker_may_ask_a_member_to_go_and_come_again(
    scripted: ScriptedBroker, pool: Threads, until: Until
) -> None:
    """A group ends the connection of a member that stalls (any reason but a final one): it comes back."""
    consumer = consumer_of(scripted)
    connected = pool.submit(consumer.connect)
    with scripted.next() as client:
        client.accept()
        client.grant()
        connected.result(s.TIMEOUT_S)
        client.send(b"\xe0\x02\x83\x00")
    with scripted.next() as client:
        client.accept(session_present=True)
        client.grant()
        until(lambda: consumer.counters.connections == 2)
        consumer.abort()
