"""Consumers of asyncio that are closed while other tasks work: what is acknowledged, and what is not."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any

import pytest
from scripted import ScriptedBroker
from threads import Threads

from lapwing import Broker
from lapwing.client import AsyncConsumer, Client, Consumer, Delivery

TIMEOUT_S = 30.0


def publish(broker: Broker, *payloads: bytes) -> None:
    with Client(broker.url) as publisher:
        for payload in payloads:
            publisher.publish("jobs", payload, qos=1)
        publisher.flush()


async def consumer_of(broker: Broker, *payloads: bytes) -> AsyncConsumer:
    """One with these waiting in it."""
    consumer = AsyncConsumer(
        broker.url, "jobs", client_id="one", session_expiry_s=60, timeout_s=TIMEOUT_S, report=False
    )
    await consumer.connect()
    await asyncio.to_thread(publish, broker, *payloads)
    while consumer.counters.waiting < len(payloads):
        await asyncio.sleep(0.001)
    return consumer


def given_again(broker: Broker, count: int) -> list[bytes]:
    """What comes to whoever takes the session up; ``count``: what should."""
    with Consumer(broker.url, "jobs", client_id="one", session_expiry_s=0, report=False) as again:
        messages = again.messages(TIMEOUT_S)
        taken = [next(messages).payload for _ in range(count)]
        publish(broker, b"end")
        return [*taken, *iter(lambda: next(messages).payload, b"end")]


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, TIMEOUT_S))


@pytest.mark.parametrize(("fails", "left"), [(b"1", [b"1", b"2"]), (b"2", [b"2"]), (b"", [])])
def test_close_waits_for_the_work_of_another_task(lapwing_broker: Broker, fails: bytes, left: list[bytes]) -> None:
    """It took what that had in hand for done, and returned at once; the work failed, and the message was lost."""

    async def close_meanwhile() -> None:
        consumer = await consumer_of(lapwing_broker, b"1", b"2")
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def loop() -> None:
            async for message in consumer:
                begun.set()
                await go_on.wait()
                if message.payload == fails:
                    raise ValueError("half done")

        working = asyncio.create_task(loop())
        await begun.wait()
        closing = asyncio.create_task(consumer.close())
        await asyncio.sleep(0)
        go_on.set()
        await closing
        await asyncio.wait([working])
        assert (working.exception() is None) == (not left)
        assert consumer.counters.processed == 2 - len(left)

    run(close_meanwhile())
    assert given_again(lapwing_broker, len(left)) == left


def test_what_a_cancelled_task_had_in_hand_is_not_done(lapwing_broker: Broker) -> None:
    """The end of `async with` acknowledged it."""

    async def cancel() -> None:
        async with await consumer_of(lapwing_broker, b"1") as consumer:
            begun = asyncio.Event()

            async def loop() -> None:
                async for _ in consumer:
                    begun.set()
                    await asyncio.Event().wait()

            working = asyncio.create_task(loop())
            await begun.wait()
            working.cancel()
            await asyncio.wait([working])
        assert consumer.counters.processed == 0

    run(cancel())
    assert given_again(lapwing_broker, 1) == [b"1"]


def test_a_loop_that_outlives_its_task_is_not_waited_for(lapwing_broker: Broker) -> None:
    async def outlive() -> None:
        consumer = await consumer_of(lapwing_broker, b"1")
        kept = consumer.messages()

        async def loop() -> None:
            async for _ in kept:
                raise ValueError("half done")

        with pytest.raises(ValueError, match="half done"):
            await asyncio.create_task(loop())
        await consumer.close(3600)
        assert consumer.counters.processed == 0

    run(outlive())
    assert given_again(lapwing_broker, 1) == [b"1"]


def test_nothing_is_worked_on_after_close(lapwing_broker: Broker) -> None:
    """A loop that was not done in time took what waited, which the broker gave out again."""

    async def close_in_no_time() -> None:
        consumer = await consumer_of(lapwing_broker, b"1", b"2", b"3")
        begun, go_on = asyncio.Event(), asyncio.Event()
        taken = []

        async def loop() -> None:
            async for message in consumer:
                taken.append(message.payload)
                begun.set()
                await go_on.wait()

        working = asyncio.create_task(loop())
        await begun.wait()
        await consumer.close(0.0)
        go_on.set()
        await working
        assert taken == [b"1"]

    run(close_in_no_time())
    assert given_again(lapwing_broker, 3) == [b"1", b"2", b"3"]


def test_a_loop_that_closes_ends_with_its_message(lapwing_broker: Broker) -> None:
    """It counts as done, as it does for a thread; what waits is the broker's."""

    async def close_within() -> None:
        consumer = await consumer_of(lapwing_broker, b"1", b"2")
        async for message in consumer:
            assert message.payload == b"1"
            await consumer.close()
        assert consumer.counters.processed == 1

    run(close_within())
    assert given_again(lapwing_broker, 1) == [b"2"]


def test_what_came_by_an_earlier_connection_is_not_done_by_a_close(lapwing_broker: Broker) -> None:
    """It was acknowledged by its packet id, which is another message's by now: that was lost."""

    async def close_another() -> None:
        consumer = await consumer_of(lapwing_broker, b"1")
        async for _ in consumer:
            break
        consumer.abort()
        await consumer.connect()
        await consumer.close()
        assert consumer.counters.processed == 0

    run(close_another())
    assert given_again(lapwing_broker, 1) == [b"1"]


def test_a_message_asked_for_by_wait_for_is_of_who_waits(lapwing_broker: Broker) -> None:
    """Up to Python 3.11 that asks in a task of its own, which is over when the message is there."""

    async def ask() -> None:
        async with await consumer_of(lapwing_broker, b"1") as consumer:
            message = await asyncio.wait_for(anext(aiter(consumer)), TIMEOUT_S)
            assert message.payload == b"1"
        assert consumer.counters.processed == 1

    run(ask())
    assert given_again(lapwing_broker, 0) == []


def test_a_batch_that_nobody_has_seen_is_not_done(lapwing_broker: Broker) -> None:
    """Cancelled while it waited for more, it was acknowledged by `close`."""

    async def cancel() -> None:
        async with await consumer_of(lapwing_broker, b"1") as consumer:
            waiting = asyncio.ensure_future(anext(aiter(consumer.batches(9, wait_ms=3_600_000))))
            while not consumer.counters.working:
                await asyncio.sleep(0.001)
            waiting.cancel()
            await asyncio.wait([waiting])
        assert consumer.counters.processed == 0

    run(cancel())
    assert given_again(lapwing_broker, 1) == [b"1"]


def test_who_drops_a_consumer_drops_its_connection(scripted: ScriptedBroker, pool: Threads) -> None:
    """It stayed a member of its group, which gave it messages, for as long as the event loop ran."""
    gone = threading.Event()

    async def drop() -> None:
        await AsyncConsumer(scripted.url, "jobs", report=False).connect()
        while not gone.is_set():
            await asyncio.sleep(0.001)

    dropped = pool.submit(run, drop())
    with scripted.next() as client:
        client.accept()
        client.grant()
        assert client.stream.recv(1) == b""
        gone.set()
        dropped.result(TIMEOUT_S)


def test_the_end_of_async_with_that_is_cancelled_ends_the_connection(lapwing_broker: Broker) -> None:
    """It waited for `run`, whose handler hung; the consumer stayed connected, and nobody got its message."""

    async def cancel() -> None:
        begun = asyncio.Event()

        async def hang(_: Delivery) -> None:
            begun.set()
            await asyncio.Event().wait()

        async def use(consumer: AsyncConsumer) -> None:
            async with consumer:
                running.append(asyncio.create_task(consumer.run(hang)))
                await begun.wait()

        running: list[asyncio.Task[None]] = []
        consumer = await consumer_of(lapwing_broker, b"1")
        using = asyncio.create_task(use(consumer))
        await begun.wait()
        for _ in range(3):
            await asyncio.sleep(0)
        using.cancel()
        await asyncio.wait([using])
        while consumer.counters.phase != "over":
            await asyncio.sleep(0.001)
        running[0].cancel()

    run(cancel())
    assert given_again(lapwing_broker, 1) == [b"1"]
