"""aiomqtt, for asyncio; each use runs its own event loop in a thread."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import aiomqtt

from clients.peer import TIMEOUT_S, Received, Sent

_VERSIONS = {4: aiomqtt.ProtocolVersion.V311, 5: aiomqtt.ProtocolVersion.V5}


class Aiomqtt:
    """See `Peer`."""

    name = "aiomqtt"

    def missing(self) -> str | None:
        return None

    @contextmanager
    def subscribe(self, address: tuple[str, int], version: int, topic_filter: str) -> Iterator[_Inbox]:
        inbox = _Inbox()
        thread = threading.Thread(target=lambda: asyncio.run(inbox.run(address, version, topic_filter)), daemon=True)
        thread.start()
        assert inbox.subscribed.wait(TIMEOUT_S)
        try:
            yield inbox
        finally:
            inbox.stop()
            thread.join(TIMEOUT_S)

    def publish(self, address: tuple[str, int], version: int, messages: Sequence[Sent]) -> None:
        async def send() -> None:
            async with _client(address, version) as client:
                for message in messages:
                    await client.publish(message.topic, message.payload, message.qos)

        asyncio.run(send())


class _Inbox:
    def __init__(self) -> None:
        self.subscribed = threading.Event()
        self._messages: queue.SimpleQueue[Received] = queue.SimpleQueue()

    async def run(self, address: tuple[str, int], version: int, topic_filter: str) -> None:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        try:
            async with _client(address, version) as client:
                await client.subscribe(topic_filter, 2)
                self.subscribed.set()
                async for message in client.messages:
                    assert isinstance(message.payload, bytes)
                    self._messages.put(Received(message.topic.value, message.payload, message.qos))
        except asyncio.CancelledError:
            return

    def stop(self) -> None:
        assert self._task
        self._loop.call_soon_threadsafe(self._task.cancel)

    def receive(self, count: int) -> list[Received]:
        return [self._messages.get(timeout=TIMEOUT_S) for _ in range(count)]


def _client(address: tuple[str, int], version: int) -> aiomqtt.Client:
    return aiomqtt.Client(address[0], address[1], protocol=_VERSIONS[version], timeout=TIMEOUT_S)
