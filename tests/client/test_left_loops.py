"""Loops of a consumer that are left, by `break` or by an error: what becomes of what they had in hand."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import aclosing

import pytest
from threads import Threads

from lapwing import Broker
from lapwing.client import AsyncConsumer, Client, Consumer, Delivery

Until = Callable[[Callable[[], bool]], None]

TIMEOUT_S = 30.0
TRIES = 50


@pytest.fixture
def consumer(lapwing_broker: Broker) -> Iterator[Consumer]:
    with Consumer(lapwing_broker.url, "left/#", receive_maximum=4, report=False) as consumer:
        yield consumer


def publish(broker: Broker, count: int) -> None:
    with Client(broker.url) as publisher:
        for number in range(count):
            publisher.publish("left/1", b"%d" % number, qos=1)
        publisher.flush()


def taken(consumer: Consumer, count: int) -> list[int]:
    """Of one loop, which is left at the last of them."""
    numbers: list[int] = []
    for message in consumer.messages(TIMEOUT_S):
        numbers.append(int(message.payload))
        if len(numbers) == count:
            break
    return numbers


def test_the_next_loop_begins_with_it(lapwing_broker: Broker, consumer: Consumer) -> None:
    """It was answered by nobody before the consumer closed, and after Receive Maximum of them nothing came any more."""
    publish(lapwing_broker, 10)
    assert taken(consumer, 2) == [0, 1]
    assert [taken(consumer, 1) for _ in range(10)] == [[1]] * 10
    assert taken(consumer, 9) == [1, 2, 3, 4, 5, 6, 7, 8, 9]


def test_an_error_leaves_it_to_the_next_loop(lapwing_broker: Broker, consumer: Consumer) -> None:
    publish(lapwing_broker, 3)

    def work() -> None:
        for message in consumer:
            _ = 1 // int(message.payload)

    with pytest.raises(ZeroDivisionError):
        work()
    assert taken(consumer, 3) == [0, 1, 2]


def test_who_says_that_it_is_done_goes_on_behind_it(lapwing_broker: Broker, consumer: Consumer) -> None:
    publish(lapwing_broker, 20)
    for number in range(20):
        for message in consumer.messages(TIMEOUT_S):
            assert int(message.payload) == number
            if number % 2:
                consumer.refuse(message)
            else:
                consumer.done(message)
            break
    assert (consumer.counters.processed, consumer.counters.refused) == (10, 10)


def test_a_batch_is_given_again_by_the_batch_or_one_by_one(lapwing_broker: Broker, consumer: Consumer) -> None:
    publish(lapwing_broker, 6)
    batches = consumer.batches(3, timeout_s=TIMEOUT_S, wait_ms=TIMEOUT_S * 1000)
    assert [int(message.payload) for message in next(batches)] == [0, 1, 2]
    del batches
    assert taken(consumer, 2) == [0, 1]
    batches = consumer.batches(2, timeout_s=TIMEOUT_S, wait_ms=0)
    assert sorted(int(message.payload) for message in [*next(batches)]) == [1, 2]


def test_a_loop_within_a_loop_is_not_given_what_that_has(lapwing_broker: Broker, consumer: Consumer) -> None:
    publish(lapwing_broker, 2)
    for message in consumer.messages(TIMEOUT_S):
        assert int(message.payload) == 0
        assert taken(consumer, 1) == [1]
        break


def test_a_thread_that_has_left_its_loop_is_not_waited_for(
    lapwing_broker: Broker, consumer: Consumer, pool: Threads
) -> None:
    """A close by another thread took its whole timeout."""
    publish(lapwing_broker, 1)
    assert pool.submit(lambda: taken(consumer, 1)).result(TIMEOUT_S) == [0]
    pool.submit(lambda: consumer.close(3600)).result(TIMEOUT_S)


@pytest.mark.parametrize("workers", [1, 2])
def test_run_that_stops_leaves_its_message_to_the_next(lapwing_broker: Broker, pool: Threads, workers: int) -> None:
    """As a loop does; after Receive Maximum of them nothing came any more. No `close` takes that for done."""

    def fail(_: Delivery) -> None:
        raise ConnectionError("database away")

    consumer = Consumer(lapwing_broker.url, "left/#", on_error="stop", workers=workers, receive_maximum=4, report=False)
    with consumer:
        publish(lapwing_broker, 1)
        for _ in range(10):
            with pytest.raises(ConnectionError):
                pool.submit(consumer.run, fail).result(TIMEOUT_S)
        assert taken(consumer, 1) == [0]
        with pytest.raises(ConnectionError):
            consumer.run(fail)
    assert consumer.counters.processed == 0


def test_run_that_stops_leaves_nothing_that_its_handler_has_answered(lapwing_broker: Broker) -> None:
    def refuse(message: Delivery) -> None:
        consumer.refuse(message)
        raise ConnectionError("database away")

    with Consumer(lapwing_broker.url, "left/#", on_error="stop", report=False) as consumer:
        publish(lapwing_broker, 2)
        with pytest.raises(ConnectionError):
            consumer.run(refuse)
        assert taken(consumer, 1) == [1]


@pytest.mark.parametrize("is_left", [True, False])
def test_what_came_by_an_earlier_connection_is_not_done_by_a_close(lapwing_broker: Broker, is_left: bool) -> None:
    """It was acknowledged by its packet id, which is another message's by now: that was lost."""
    consumer = Consumer(lapwing_broker.url, "left/#", client_id="c", session_expiry_s=60, report=False)
    messages = consumer.messages(TIMEOUT_S)
    publish(lapwing_broker, 1)
    assert next(messages).payload == b"0"
    if is_left:
        del messages
    consumer.abort()
    consumer.connect().close()
    assert consumer.counters.processed == 0
    with Consumer(lapwing_broker.url, "left/#", client_id="c", session_expiry_s=0, report=False) as again:
        assert taken(again, 1) == [0]


def test_a_close_finishes_nothing_of_a_thread_that_had_its_number(lapwing_broker: Broker) -> None:
    """The system gives a thread's number again once it has ended: what that one had left was acknowledged."""
    consumer = Consumer(lapwing_broker.url, "left/#", client_id="c", session_expiry_s=60, report=False).connect()
    publish(lapwing_broker, 1)
    idents: list[int] = []

    def take() -> None:
        idents.append(threading.get_ident())
        assert taken(consumer, 1) == [0]

    def close() -> None:
        idents.append(threading.get_ident())
        if idents[-1] == idents[0]:
            consumer.close()

    for work in (take, *[close] * 100):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        if consumer.counters.phase == "over":
            break
    assert idents[0] in idents[1:], "no thread was given the number of the first"
    assert consumer.counters.processed == 0
    with Consumer(lapwing_broker.url, "left/#", client_id="c", session_expiry_s=0, report=False) as again:
        assert taken(again, 1) == [0]


def test_a_loop_that_closes_ends_with_its_message(lapwing_broker: Broker, until: Until) -> None:
    """It went on with what waited, which the broker gave out again."""
    consumer = Consumer(lapwing_broker.url, "left/#", client_id="c", session_expiry_s=60, report=False).connect()
    publish(lapwing_broker, 3)
    numbers = []
    for message in consumer:
        numbers.append(int(message.payload))
        until(lambda: consumer.counters.waiting == 2)
        consumer.close()
    assert (numbers, consumer.counters.processed) == ([0], 1)
    with Consumer(lapwing_broker.url, "left/#", client_id="c", session_expiry_s=0, report=False) as again:
        assert taken(again, 2) == [1, 2]


def test_asyncio(lapwing_broker: Broker) -> None:
    """Are loops of asyncio as others, and is a batch that somebody stopped waiting for given again?"""
    publish_to = lapwing_broker

    async def some(consumer: AsyncConsumer, count: int) -> list[int]:
        numbers: list[int] = []
        async for message in consumer.messages(TIMEOUT_S):
            numbers.append(int(message.payload))
            if len(numbers) == count:
                break
        return numbers

    async def run() -> None:
        async with AsyncConsumer(publish_to.url, "left/#", receive_maximum=4, report=False) as consumer:
            await asyncio.to_thread(publish, publish_to, 5)
            assert await some(consumer, 2) == [0, 1]
            assert [await some(consumer, 1) for _ in range(5)] == [[1]] * 5
            async for message in consumer.messages(TIMEOUT_S):
                await consumer.done(message)
                break
            batches = consumer.batches(4, wait_ms=3_600_000)
            waiting = asyncio.ensure_future(anext(aiter(batches)))
            while consumer.counters.working < 3:
                await asyncio.sleep(0.001)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            assert await some(consumer, 3) == [2, 3, 4]

    asyncio.run(asyncio.wait_for(run(), TIMEOUT_S))


@pytest.mark.parametrize("is_one_loop", [True, False], ids=["one loop", "a loop each time"])
def test_a_batch_waits_from_its_first_message_on(lapwing_broker: Broker, is_one_loop: bool) -> None:
    """Who asks with less patience than a batch has gets it all the same: the wait began anew with each question."""

    async def run() -> int:
        async with AsyncConsumer(lapwing_broker.url, "left/#", report=False) as consumer:
            await asyncio.to_thread(publish, lapwing_broker, 3)
            batches = consumer.batches(9, wait_ms=400)
            for asked in range(1, TRIES):
                try:
                    async with asyncio.timeout(0.15):
                        assert len(await anext(batches)) == 3
                        return asked
                except TimeoutError:
                    batches = batches if is_one_loop else consumer.batches(9, wait_ms=400)
        return TRIES

    assert 1 < asyncio.run(asyncio.wait_for(run(), TIMEOUT_S)) < TRIES


def test_asyncio_closes_a_loop(lapwing_broker: Broker) -> None:
    """As `break` does; and one that is kept over the end of its connection takes and answers nothing on the next."""

    async def run() -> None:
        consumer = AsyncConsumer(lapwing_broker.url, "left/#", report=False)
        await consumer.connect()
        await asyncio.to_thread(publish, lapwing_broker, 2)
        async with aclosing(consumer.messages(TIMEOUT_S)) as closed:
            assert (await anext(closed)).payload == b"0"
        with pytest.raises(StopAsyncIteration):
            await anext(closed)
        kept = consumer.messages(TIMEOUT_S)
        assert (await anext(kept)).payload == b"0"
        while not consumer.counters.waiting:
            await asyncio.sleep(0.001)
        consumer.abort()
        await consumer.connect()
        await asyncio.to_thread(publish, lapwing_broker, 1)
        assert [message.payload async for message in kept] == [b"1"], "what was here before"
        assert (await anext(consumer.messages(TIMEOUT_S))).payload == b"0"
        assert consumer.counters.processed == 0
        await consumer.close()

    asyncio.run(asyncio.wait_for(run(), TIMEOUT_S))
