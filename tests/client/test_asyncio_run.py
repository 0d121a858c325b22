"""Handlers of asyncio: how they end, and what becomes of their messages."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Literal

import pytest

from lapwing import Broker
from lapwing.client import AsyncConsumer, AsyncPublisher, Delivery
from lapwing.errors import LapwingError

TIMEOUT_S = 30.0


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, TIMEOUT_S))


def consumer_of(broker: Broker, on_error: Literal["refuse", "stop"] = "refuse") -> AsyncConsumer:
    return AsyncConsumer(broker.url, "jobs", on_error=on_error, receive_maximum=2, timeout_s=TIMEOUT_S, report=False)


async def publish(broker: Broker, count: int) -> None:
    async with AsyncPublisher(broker.url) as publisher:
        for number in range(count):
            await publisher.publish("jobs", b"%d" % number)


async def await_a_cancelled(message: Delivery) -> None:
    """As a pool of connections that is closed meanwhile."""
    if message.payload != b"1":
        return
    other = asyncio.ensure_future(asyncio.Event().wait())
    other.cancel()
    await other


def test_a_handler_that_awaits_what_was_cancelled_refuses(lapwing_broker: Broker) -> None:
    """`run` ended without a word, and its message was nobody's."""

    async def work() -> None:
        async with consumer_of(lapwing_broker) as consumer:
            running = asyncio.create_task(consumer.run(await_a_cancelled))
            await publish(lapwing_broker, 3)
            while consumer.counters.processed < 2:
                await asyncio.sleep(0.001)
            assert consumer.counters.refused == 1
            await consumer.close()
            await running

    run(work())


def test_a_handler_that_awaits_what_was_cancelled_stops(lapwing_broker: Broker) -> None:
    async def work() -> None:
        async with consumer_of(lapwing_broker, "stop") as consumer:
            await publish(lapwing_broker, 3)
            with pytest.raises(LapwingError, match=r"what a handler awaited was cancelled .*'jobs'"):
                await consumer.run(await_a_cancelled)

    run(work())


def test_other_news_does_not_begin_the_time_of_a_loop_anew(lapwing_broker: Broker) -> None:
    """A loop with ``timeout_s`` that had no message went on for as long as replies were acknowledged, say."""

    async def work() -> None:
        async with consumer_of(lapwing_broker) as consumer:

            async def tell() -> None:
                while True:
                    consumer._wake()
                    await asyncio.sleep(0)

            telling = asyncio.create_task(tell())
            assert [message async for message in consumer.messages(timeout_s=0.05)] == []
            telling.cancel()

    run(work())


def test_what_a_cancelled_run_had_in_hand_is_where_the_next_begins(lapwing_broker: Broker) -> None:
    """It was answered by nobody before the consumer closed, and after Receive Maximum of them nothing came any more."""

    async def work() -> None:
        seen = []
        async with consumer_of(lapwing_broker) as consumer:
            await publish(lapwing_broker, 3)
            for _ in range(5):
                begun = asyncio.Event()

                async def hang(message: Delivery, begun: asyncio.Event = begun) -> None:
                    seen.append(message.payload)
                    begun.set()
                    await asyncio.Event().wait()

                running = asyncio.create_task(consumer.run(hang))
                await begun.wait()
                running.cancel()
                await asyncio.wait([running])
            assert seen == [b"0"] * 5
            async for message in consumer:
                assert message.payload == b"0"
                break
        assert consumer.counters.processed == 1, "by the loop, which this task has left"

    run(work())


def test_close_in_a_handler_does_not_wait_for_it(lapwing_broker: Broker) -> None:
    """It waited its whole timeout, and the message was acknowledged too late; `run` closes when it is through."""

    async def work() -> None:
        consumer = await consumer_of(lapwing_broker).connect()
        await publish(lapwing_broker, 2)
        while consumer.counters.waiting < 2:
            await asyncio.sleep(0.001)

        async def close(_: Delivery) -> None:
            await consumer.close(3600)

        await consumer.run(close)
        counters = consumer.counters
        assert (counters.phase, counters.processed, counters.late) == ("over", 2, 0)

    run(work())
