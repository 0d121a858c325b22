"""Requests and replies over a real broker: the right reply to each, and an error when none comes."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from threads import Threads

from lapwing import Broker
from lapwing.client import AsyncConsumer, AsyncRequester, Client, Consumer, Delivery, Requester
from lapwing.errors import ConfigError, LapwingError, RejectedError, TimedOutError


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
            replies = list(askers.map(lambda n: requester.request("square", str(n), timeout_s=30.0), range(200)))
        assert [int(reply.payload) for reply in replies] == [n * n for n in range(200)]
        one.close(), two.close()
        [each.result(30.0) for each in running]
        assert one.counters.processed + two.counters.processed == 200


def test_who_asks_first_connects_for_all(broker: Broker) -> None:
    """Threads, or tasks, that ask at once and have not connected: is there one connection, and a reply for each?"""
    with Consumer(broker.url, "first", workers=2) as consumer, ThreadPoolExecutor(9) as pool:
        pool.submit(consumer.run, lambda message: consumer.reply(message, message.payload))
        requester = Requester(broker.url)
        replies = pool.map(lambda n: requester.request("first", str(n), timeout_s=30.0).payload, range(8))
        assert list(replies) == [b"%d" % n for n in range(8)]
        requester.close()

        async def ask() -> list[Delivery]:
            requester = AsyncRequester(broker.url)
            asked = [requester.request("first", str(n), timeout_s=30.0) for n in range(8)]
            replies = await asyncio.gather(*asked)
            await requester.close()
            return replies

        assert [reply.payload for reply in asyncio.run(ask())] == [b"%d" % n for n in range(8)]
        consumer.close()


def test_no_reply_is_a_timeout(broker: Broker) -> None:
    said = r"no reply within 0.05 s \(request to 'nobody'\)"
    with Requester(broker.url) as requester, pytest.raises(TimedOutError, match=said):
        requester.request("nobody", b"?", timeout_s=0.05)


def test_a_late_reply_to_an_earlier_process_answers_nothing(broker: Broker) -> None:
    """Both have one client id, hence one topic for replies, and each has asked once."""
    with Client(broker.url) as worker:
        worker.subscribe("slow", qos=1)
        for payload in (b"before", b"after"):
            with Requester(broker.url, client_id="asks") as requester, pytest.raises(TimedOutError):
                requester.request("slow", payload, timeout_s=0.01)
        before, after = (worker.receive(30.0) for _ in range(2))
    assert before is not None
    assert after is not None
    assert before.response_topic == after.response_topic
    assert before.correlation_data != after.correlation_data


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
            replies = await asyncio.gather(*(requester.request("upper", word, timeout_s=30.0) for word in words))
            assert [reply.payload.decode() for reply in replies] == [word.upper() for word in words]
            with pytest.raises(TimedOutError, match="upper"):
                await requester.request("upper", "silence", timeout_s=0.05)
            await consumer.close()
            await running

    asyncio.run(ask())


def test_an_async_close_that_is_cancelled_tells_who_waits(broker: Broker) -> None:
    """It heard nothing until its time was over, and the connection stayed."""

    async def ask() -> None:
        requester = await AsyncRequester(broker.url).connect()
        asking = asyncio.create_task(requester.request("nobody/there", "?", timeout_s=3600))
        closing = asyncio.create_task(requester.close())
        await asyncio.sleep(0)
        closing.cancel()
        with pytest.raises(LapwingError, match="closed before the reply came"):
            await asking
        with pytest.raises(asyncio.CancelledError):
            await closing

    asyncio.run(asyncio.wait_for(ask(), 30.0))


MAY_NOT_ASK = {"identity": "anonymous", "may": ["publish", "subscribe"], "topics": ["replies/#", "open/#"]}


def test_a_request_that_the_broker_refuses_is_told_at_once() -> None:
    """While others wait for their replies: are they left alone, and is it the refused one that hears it?"""
    with Broker(rules=[MAY_NOT_ASK]) as broker, Requester(broker.url) as requester, ThreadPoolExecutor(1) as other:
        patient = other.submit(requester.request, "open/nobody", b"?", timeout_s=2.0)
        for _ in range(3):
            with pytest.raises(RejectedError, match=r"0x87.*request to 'secret'") as told:
                requester.request("secret", b"?", timeout_s=60.0)
            assert told.value.rejections[0].topic == "secret"
        with pytest.raises(TimedOutError, match="open/nobody"):
            patient.result(60.0)


def test_what_was_refused_before_a_requester_was_closed_is_not_said_of_what_it_asks_then() -> None:
    """Numbers begin anew with each connection."""
    with Broker(rules=[MAY_NOT_ASK]) as broker, Requester(broker.url) as requester:
        with pytest.raises((TimedOutError, RejectedError)):
            requester.request("secret", b"?", timeout_s=0.0)
        with pytest.raises(RejectedError):
            requester.request("secret", b"?", timeout_s=60.0)
        requester.close()
        with pytest.raises(TimedOutError):
            requester.request("open/nobody", b"?", timeout_s=0.2)


def test_an_async_request_that_the_broker_refuses_is_told_at_once() -> None:
    async def ask(url: str) -> None:
        async with AsyncRequester(url) as requester:
            patient = asyncio.create_task(requester.request("open/nobody", b"?", timeout_s=2.0))
            with pytest.raises(RejectedError, match="secret"):
                await requester.request("secret", b"?", timeout_s=60.0)
            with pytest.raises(TimedOutError, match="open/nobody"):
                await patient

    with Broker(rules=[MAY_NOT_ASK]) as broker:
        asyncio.run(ask(broker.url))
