"""A publisher: what it hands over arrives, what is unanswered goes again, and a full buffer says so."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable

import pytest
import scripted as s
from restarting import RestartingBroker
from scripted import Connection, ScriptedBroker
from stream import published
from threads import Threads

from lapwing import Broker, Client
from lapwing.client import AsyncPublisher, Publisher
from lapwing.errors import BufferFullError, ConfigError, RejectedError, Rejection, TimedOutError

Until = Callable[[Callable[[], bool]], None]


@pytest.mark.parametrize("qos", [0, 1, 2])
def test_all_arrives_in_order(broker: Broker, qos: int) -> None:
    with Client(broker.url) as reader:
        reader.subscribe(f"order/{qos}", qos=qos)
        with Publisher(broker.url) as publisher:
            for number in range(3000):
                publisher.publish(f"order/{qos}", b"%d" % number, qos=qos)
        got = [int(reader.receive(s.TIMEOUT_S).payload) for _ in range(3000)]  # type: ignore[union-attr]
    assert got == list(range(3000))
    assert publisher.counters.acknowledged == (3000 if qos else 0)


def test_deadline_and_priority_are_user_properties(broker: Broker) -> None:
    with Client(broker.url) as reader, Publisher(broker.url) as publisher:
        reader.subscribe("properties")
        publisher.publish("properties", "ä", deadline_ms=250, priority="critical", user_properties=[("a", "b")])
        message = reader.receive(s.TIMEOUT_S)
        assert message is not None
        expected = [("a", "b"), ("lapwing-deadline-ms", "250"), ("lapwing-priority", "critical")]
        assert (message.payload.decode(), message.user_properties) == ("ä", expected)
        with pytest.raises(ConfigError, match="deadline_ms = 0: give 1 to 86400000"):
            publisher.publish("a", b"", deadline_ms=0)
        with pytest.raises(ConfigError, match="a/#"):
            publisher.publish("a/#", b"")


def test_the_window_is_the_brokers(scripted: ScriptedBroker, pool: Threads) -> None:
    """With a Receive Maximum of 2: two go, each answer lets one more go."""
    publisher = Publisher(scripted.url)
    connected = pool.submit(publisher.connect)
    with scripted.next() as client:
        client.accept(properties=b"\x21\x00\x02")
        connected.result(s.TIMEOUT_S)
        for number in range(4):
            publisher.publish("a", b"%d" % number)
        assert [client.read().body[-1:] for _ in range(2)] == [b"0", b"1"]
        assert client.is_silent()
        client.send(b"\x40\x02\x00\x01")
        assert client.read().body[-1:] == b"2"
        publisher.abort()


def test_pending_goes_again_with_dup(scripted: ScriptedBroker, pool: Threads) -> None:
    """The session is there: in order and with DUP, before anything new; and the first answer counts."""
    publisher = Publisher(scripted.url, back_off_s=(0.01, 0.1))
    connected = pool.submit(publisher.connect)
    with scripted.next() as client:
        client.accept()
        connected.result(s.TIMEOUT_S)
        for payload in (b"0", b"1", b"2"):
            publisher.publish("a", payload)
        ids = [int.from_bytes(client.read().body[3:5], "big") for _ in range(3)]
        client.send(b"\x40\x02" + ids[0].to_bytes(2, "big"))
        client.stream.shutdown(2)
    with scripted.next() as client:
        publisher.publish("a", b"3")  # now: the first connection may still have been taken for open before
        assert not client.connect.body[7] & 2, "the second connection does not start clean"
        client.accept(session_present=True)
        again = [client.read() for _ in range(3)]
        assert [(packet.flags >> 3, packet.body[-1:]) for packet in again] == [(1, b"1"), (1, b"2"), (0, b"3")]
        assert publisher.counters.sent_again == 2
        publisher.abort()


def test_a_full_buffer_waits_or_raises(scripted: ScriptedBroker, pool: Threads) -> None:
    raising = Publisher(scripted.url, buffer_messages=2, when_full="raise")
    connected = pool.submit(raising.connect)
    with scripted.next() as client:
        client.accept()
        connected.result(s.TIMEOUT_S)
        raising.publish("a", b"0"), raising.publish("a", b"1")
        with pytest.raises(BufferFullError, match="publish to 'a'"):
            raising.publish("a", b"2")
        with pytest.raises(TimedOutError, match="2 messages are not answered"):
            raising.flush(0.01)
        raising.abort()
    waiting = Publisher(scripted.url, buffer_messages=2)
    connected = pool.submit(waiting.connect)
    with scripted.next() as client:
        client.accept()
        connected.result(s.TIMEOUT_S)
        waiting.publish("a", b"0"), waiting.publish("a", b"1")
        with pytest.raises(TimedOutError, match="no room"):
            waiting.publish("a", b"2", timeout_s=0.01)
        third = pool.submit(waiting.publish, "a", b"2")
        for _ in range(2):
            client.send(b"\x40\x02" + client.read().body[3:5])
        third.result(s.TIMEOUT_S)
        waiting.abort()


def test_what_the_broker_refuses_is_told_by_flush(scripted: ScriptedBroker, pool: Threads) -> None:
    publisher = Publisher(scripted.url)
    connected = pool.submit(publisher.connect)
    with scripted.next() as client:
        client.accept(properties=b"\x25\x00")  # Retain is not available.
        connected.result(s.TIMEOUT_S)
        assert [publisher.publish(topic, b"") for topic in ("a", "b", "c")] == [1, 2, 3]
        refuse_first_and_last(client)
        with pytest.raises(
            RejectedError, match=r'publish to "a" was refused: Not authorized \(0x87\): closed, and 1 more'
        ) as told:
            publisher.flush()
        assert told.value.rejections == (Rejection(1, "a", 0x87, "Not authorized (0x87): closed"), FULL)
        assert told.value.count == 2
        kept = publisher.publish("kept", b"", retain=True)
        with pytest.raises(RejectedError, match=r'publish to "kept" was refused.*retained messages') as told:
            publisher.close()
        assert [rejection.number for rejection in told.value.rejections] == [kept]
        assert publisher.counters.rejected == 3


def test_the_async_publisher_names_what_was_refused_as_well(scripted: ScriptedBroker, pool: Threads) -> None:
    async def publish() -> tuple[list[int], RejectedError]:
        publisher = await AsyncPublisher(scripted.url).connect()
        numbers = [await publisher.publish(topic, b"") for topic in ("a", "b", "c")]
        with pytest.raises(RejectedError) as told:
            await publisher.flush()
        await publisher.close()
        return numbers, told.value

    published = pool.submit(asyncio.run, publish())
    with scripted.next() as client:
        client.accept()
        refuse_first_and_last(client)
        numbers, told = published.result(s.TIMEOUT_S)
    assert numbers == [1, 2, 3]
    assert told.rejections == (Rejection(1, "a", 0x87, "Not authorized (0x87): closed"), FULL)


def test_what_was_refused_crosses_process_borders() -> None:
    told = pickle.loads(pickle.dumps(RejectedError("refused", where="here", rejections=[FULL], count=7)))
    assert (str(told), told.rejections, told.count) == ("refused (here)", (FULL,), 7)


FULL = Rejection(3, "c", 0x97, "Quota exceeded (0x97)")


def refuse_first_and_last(client: Connection) -> None:
    """Of three: the first with a reason string."""
    ids = [client.read().body[3:5] for _ in range(3)]
    client.send(b"\x40\x0d" + ids[0] + b"\x87\x09\x1f\x00\x06closed")
    client.send(b"\x40\x02" + ids[1] + b"\x40\x03" + ids[2] + b"\x97")


def test_a_killed_broker_loses_nothing_acknowledged(restarting: RestartingBroker, until: Until) -> None:
    """Killed and started again twice while QoS 1 is published: is every message in the stream, in order?"""
    with Publisher(restarting.url, back_off_s=(0.02, 0.2), window=64, timeout_s=60.0) as publisher:
        for number in range(6000):
            if number in (1500, 4000):
                # Connected, or it would sleep through a whole life of the broker's.
                until(lambda lives=1 if number == 1500 else 2: publisher.counters.connections == lives)
                restarting.kill()
                restarting.start()
            publisher.publish("t/a", b"%d" % number)
        publisher.flush(60.0)
        counters = publisher.counters
    assert (counters.acknowledged, counters.rejected, counters.connections) == (6000, 0, 3)
    kept = [int(payload) for payload in published(restarting.http)]
    first = list(dict.fromkeys(kept))
    assert first == list(range(6000))
    assert len(kept) - len(first) <= 2 * 64, "only what was on the way may be there twice"


def test_async_publisher(broker: Broker) -> None:
    async def publish() -> None:
        async with AsyncPublisher(broker.url, buffer_messages=100) as publisher:
            for number in range(2000):
                await publisher.publish("async", b"%d" % number)
            await publisher.flush()
            assert publisher.counters.acknowledged == 2000
            with pytest.raises(ConfigError):
                await publisher.publish("async", b"", deadline_ms=-1)

    with Client(broker.url) as reader:
        reader.subscribe("async", qos=1)
        asyncio.run(publish())
        got = [int(reader.receive(s.TIMEOUT_S).payload) for _ in range(2000)]  # type: ignore[union-attr]
    assert got == list(range(2000))
