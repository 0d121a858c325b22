"""A process was killed, the next one has its client id: is what the new one publishes at QoS 2 there, every message?"""

from __future__ import annotations

import asyncio
import itertools

import pytest
from unreleased import leave_unreleased

from lapwing import Broker, Client
from lapwing.client import AsyncPublisher, Consumer, Publisher, Requester
from lapwing.errors import TimedOutError

TIMEOUT_S = 30.0
COUNT = 10
NEW = [b"new %d" % number for number in range(COUNT)]


def publish(url: str, topic: str) -> None:
    with Publisher(url, client_id=topic, session_expiry_s=300) as publisher:
        for payload in NEW:
            publisher.publish(topic, payload, qos=2)


def publish_async(url: str, topic: str) -> None:
    async def all_of_them() -> None:
        async with AsyncPublisher(url, client_id=topic, session_expiry_s=300) as publisher:
            for payload in NEW:
                await publisher.publish(topic, payload, qos=2)

    asyncio.run(all_of_them())


def request(url: str, topic: str) -> None:
    with Requester(url, client_id=topic, session_expiry_s=300) as requester:
        for payload in NEW:
            with pytest.raises(TimedOutError):
                requester.request(topic, payload, qos=2, timeout_s=0.01)


def go_on(url: str, topic: str) -> None:
    with Client(url, client_id=topic, clean_start=False, session_expiry_s=300) as client:
        for payload in NEW:
            client.publish(topic, payload, qos=2)
        client.flush()


def reply(url: str, topic: str) -> None:
    with Consumer(url, "asked", client_id=topic, session_expiry_s=300) as consumer, Client(url) as asking:
        for payload in NEW:
            asking.publish("asked", payload, qos=1, response_topic=topic)
        for message in itertools.islice(consumer, COUNT):
            consumer.reply(message, message.payload, qos=2)


@pytest.mark.parametrize("publish_all", [publish, publish_async, request, go_on, reply])
def test_nothing_new_is_taken_for_a_repeat(broker: Broker, publish_all: object) -> None:
    """The broker keeps the packet ids that the killed one has not released; the new one counts from 1 as well."""
    assert callable(publish_all)
    topic = publish_all.__name__
    with Client(broker.url) as reader:
        reader.subscribe(topic, qos=1)
        leave_unreleased(broker.url, topic, topic, COUNT)
        publish_all(broker.url, topic)
        got = [reader.receive(TIMEOUT_S) for _ in range(2 * COUNT)]
    payloads = [message.payload for message in got if message]
    assert payloads == [b"old"] * COUNT + NEW
