"""Requests and replies over a real broker: the right reply to each, and an error when none comes."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from threads import Threads

from lapwing import Broker
from lapwing.client import AsyncConsumer, AsyncRequester, Client, Consumer, Delivery, Requester
from lapwing.errors import ConfigError, TimedOutError


def test_each_request_gets_its_reply(broker: Broker, pool: Threads) -> None:
    """Many threads ask one requester, two consumers of a group reply."""
    with (
        Consumer(broker.url, "square", group="squares", workers=2) as one,
        Consumer(broker.url, "square", group="squares") as two,
        Requester(broker.url) as requester,
    ):

        def reply(consumer: Consumer, message: Delivery) -> None:
            consumer.reply(message, str(int(message.payload) ** 2))

        running = [pool.submit(consumer.run, lambda m, c=consumer: reply(c, m)) for consumer in (one, two)]
        with ThreadPoolExecutor(8) as askers:
            replies = list(askers.map(lambda n: requester.request("square", str(n), timeout_s=20.0), range(200)))
        assert [int(reply.payload) for reply in replies] == [n * n for n in range(200)]
        one.close(), two.close()
        [each.result(20.0) for each in running]
        assert one.counters.processed + two.counters.processed == 200


def test_no_reply_is_a_timeout(broker: Broker) -> None:
    with Requester(broker.url) as requester:
        begun = time.monotonic()
        with pytest.raises(TimedOutError, match=r"no reply within 0.05 s \(request to 'nobody'\)"):
            requester.request("nobody", b"?", timeout_s=0.05)
        assert time.monotonic() - begun < 5.0


def test_what_asks_nothing_cannot_be_replied_to(broker: Broker) -> None:
    with Consumer(broker.url, "plain") as consumer, Client(broker.url) as client:
        client.publish("plain", b"")
        with pytest.raises(ConfigError, match="response topic"):
            consumer.reply(next(iter(consumer)), b"")
    with pytest.raises(ConfigError, match="version=5"):
        Requester(broker.url, version=4)


def test_async_requests(broker: Broker) -> None:
    async def ask() -> None:
        async with AsyncConsumer(broker.url, "upper", workers=4) as consumer, AsyncRequester(broker.url) as requester:

            async def reply(message: Delivery) -> None:
                if message.payload != b"silence":
                    await consumer.reply(message, message.payload.upper())

            running = asyncio.create_task(consumer.run(reply))
            words = [f"w{n}" for n in range(100)]
            replies = await asyncio.gather(*(requester.request("upper", word, timeout_s=20.0) for word in words))
            assert [reply.payload.decode() for reply in replies] == [word.upper() for word in words]
            with pytest.raises(TimedOutError, match="upper"):
                await requester.request("upper", "silence", timeout_s=0.05)
            await consumer.close()
            await running

    asyncio.run(ask())
