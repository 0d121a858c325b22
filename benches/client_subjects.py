"""The programs that `client_bench` measures, one process each: ``ROLE SUBJECT URL MESSAGES``; prints JSON.

A consumer's messages wait in its session at the broker before it begins, so that nothing else uses its core: it
subscribes, leaves, a publisher fills the session, it comes back and takes everything.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from collections.abc import Callable
from urllib.parse import urlsplit

import paho.mqtt.client as paho
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from lapwing.client import AsyncConsumer, AsyncPublisher, Consumer, Delivery, Publisher

PAYLOAD = bytes(64)
WINDOW = 1000
NAME = "bench"


def _paho() -> paho.Client:
    client = paho.Client(paho.CallbackAPIVersion.VERSION2, client_id=NAME, protocol=paho.MQTTv5)
    client.max_inflight_messages_set(WINDOW)
    return client


def _connect(client: paho.Client, url: str) -> None:
    parts = urlsplit(url)
    properties = Properties(PacketTypes.CONNECT)
    properties.SessionExpiryInterval = 600
    properties.ReceiveMaximum = WINDOW
    client.connect(str(parts.hostname), int(parts.port or 0), clean_start=False, properties=properties)


def _fill(url: str, messages: int) -> None:
    Consumer(url, "bench", client_id=NAME, session_expiry_s=600).connect().close()
    with Publisher(url, timeout_s=120.0) as publisher:
        for _ in range(messages):
            publisher.publish("bench", PAYLOAD)


def _consume_paho(url: str, messages: int) -> None:
    client, done, seen = _paho(), threading.Event(), 0

    def on_message(_client: paho.Client, _userdata: object, _message: paho.MQTTMessage) -> None:
        nonlocal seen
        seen += 1
        if seen == messages:
            done.set()

    client.on_message = on_message
    _connect(client, url)
    client.loop_start()
    done.wait()
    client.disconnect()
    client.loop_stop()


def _consumer(url: str) -> Consumer:
    return Consumer(url, "bench", client_id=NAME, session_expiry_s=600, receive_maximum=WINDOW)


def _consume_loop(url: str, messages: int) -> None:
    with _consumer(url) as consumer:
        for number, _ in enumerate(consumer, 1):
            if number == messages:
                return


def _consume_run(url: str, messages: int) -> None:
    consumer, seen = _consumer(url), 0

    def work(_: Delivery) -> None:
        nonlocal seen
        seen += 1
        if seen == messages:
            consumer.close()

    consumer.run(work)


def _consume_batches(url: str, messages: int) -> None:
    seen = 0
    with Consumer(url, "bench", client_id=NAME, session_expiry_s=600, batch=WINDOW) as consumer:
        for batch in consumer.batches(wait_ms=5):
            seen += len(batch)
            if seen == messages:
                return


def _consume_async(url: str, messages: int) -> None:
    async def consume() -> None:
        seen = 0
        async with AsyncConsumer(
            url, "bench", client_id=NAME, session_expiry_s=600, receive_maximum=WINDOW
        ) as consumer:
            async for _ in consumer:
                seen += 1
                if seen == messages:
                    return

    asyncio.run(consume())


def _publish_paho(url: str, messages: int) -> None:
    client, answered, done = _paho(), 0, threading.Event()

    def on_publish(*_: object) -> None:
        nonlocal answered
        answered += 1
        if answered == messages:
            done.set()

    client.on_publish = on_publish
    _connect(client, url)
    client.loop_start()
    for _ in range(messages):
        client.publish("bench", PAYLOAD, qos=1)
    done.wait()
    client.disconnect()
    client.loop_stop()


def _publish(url: str, messages: int) -> None:
    with Publisher(url, window=WINDOW, timeout_s=120.0) as publisher:
        for _ in range(messages):
            publisher.publish("bench", PAYLOAD)


def _publish_async(url: str, messages: int) -> None:
    async def publish() -> None:
        async with AsyncPublisher(url, window=WINDOW, timeout_s=120.0) as publisher:
            for _ in range(messages):
                await publisher.publish("bench", PAYLOAD)

    asyncio.run(publish())


SUBJECTS: dict[str, dict[str, Callable[[str, int], None]]] = {
    "consume": {
        "paho": _consume_paho,
        "consumer": _consume_loop,
        "run": _consume_run,
        "async": _consume_async,
        "batches": _consume_batches,
    },
    "publish": {"paho": _publish_paho, "publisher": _publish, "async": _publish_async},
}


def main() -> None:
    """Measures one subject, connecting and the last acknowledgement included."""
    role, subject, url, count = sys.argv[1:]
    messages = int(count)
    if role == "consume":
        _fill(url, messages)
    begun = time.perf_counter()
    SUBJECTS[role][subject](url, messages)
    print(json.dumps({"per_s": messages / (time.perf_counter() - begun)}))


if __name__ == "__main__":
    main()
