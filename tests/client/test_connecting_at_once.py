"""Two that connect one consumer, or publisher, at once: it has one connection.

Each made one of its own under the same client id, and a broker ends the older of two such connections for good.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
import scripted as s
from scripted import ScriptedBroker
from threads import Threads

from lapwing.client import AsyncConsumer, AsyncPublisher, Consumer, Publisher


@pytest.mark.parametrize("kind", ["consumer", "publisher"])
def test_threads(scripted: ScriptedBroker, pool: Threads, kind: str) -> None:
    both = Consumer(scripted.url, "a") if kind == "consumer" else Publisher(scripted.url)
    first = pool.submit(both.connect)
    with scripted.next() as client:
        second = pool.submit(both.connect)
        client.accept()
        if kind == "consumer":
            client.grant()
        assert first.result(s.TIMEOUT_S) is second.result(s.TIMEOUT_S)
        assert both.counters.connections == 1
        both.abort()


@pytest.mark.parametrize("make", [lambda url: AsyncConsumer(url, "a"), AsyncPublisher])
def test_tasks(scripted: ScriptedBroker, pool: Threads, make: Callable[[str], AsyncConsumer | AsyncPublisher]) -> None:
    async def connect() -> None:
        both = make(scripted.url)
        await asyncio.gather(both.connect(), both.connect())
        assert both.counters.connections == 1
        both.abort()

    connected = pool.submit(asyncio.run, connect())
    with scripted.next() as client:
        client.accept()
        if make is not AsyncPublisher:
            client.grant()
        connected.result(s.TIMEOUT_S)
