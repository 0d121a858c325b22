"""The publisher for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import TracebackType
from typing import Literal, Self, Unpack

from lapwing import _core
from lapwing.client.counters import Counters
from lapwing.client.failures import core_failures
from lapwing.client.news import News, start_async
from lapwing.client.options import ConnectOptions
from lapwing.client.outgoing import GOODBYE_S, Outgoing, encoded
from lapwing.errors import LapwingError


class AsyncPublisher:
    """`Publisher` for one event loop: the same arguments, promises and errors. Used with ``async with``."""

    def __init__(
        self,
        url: str,
        *,
        window: int | None = None,
        buffer_messages: int = 10_000,
        buffer_bytes: int = 64 << 20,
        when_full: Literal["wait", "raise"] = "wait",
        deadline_property: str = "lapwing-deadline-ms",
        priority_property: str = "lapwing-priority",
        **connect: Unpack[ConnectOptions],
    ) -> None:
        self._outgoing = Outgoing.of(
            url,
            connect,
            window=window,
            buffer_messages=buffer_messages,
            buffer_bytes=buffer_bytes,
            when_full=when_full,
            deadline_property=deadline_property,
            priority_property=priority_property,
        )
        self.client_id = self._outgoing.plan.client_id
        self._open: tuple[_core.Link, News] | None = None
        self._opening = asyncio.Lock()

    async def connect(self) -> Self:
        """Connects; a publisher that has connected stays as it is."""
        # Two links would have one client id, and each would end the other's connection.
        async with self._opening:
            if self._open is None:
                self._open = await start_async(self._outgoing.plan)
        return self

    @property
    def counters(self) -> Counters:
        """What was counted, and how things stand."""
        return Counters.of(self._connected()[0])

    async def publish(
        self,
        topic: str,
        payload: bytes | str,
        *,
        qos: int = 1,
        retain: bool = False,
        deadline_ms: int | None = None,
        priority: Literal["critical", "bulk"] | None = None,
        user_properties: Sequence[tuple[str, str]] = (),
        content_type: str | None = None,
        response_topic: str | None = None,
        correlation_data: bytes | None = None,
        message_expiry_s: int | None = None,
        timeout_s: float | None = None,
    ) -> int:
        """Hands a message over, waiting only for room, and returns its number; see `Publisher.publish`."""
        outgoing, (link, news) = self._outgoing, self._connected()
        patience_s = 0.0 if not outgoing.waits else outgoing.plan.timeout_s if timeout_s is None else timeout_s
        until: float | None = None
        data, properties = encoded(payload), outgoing.properties(user_properties, deadline_ms, priority)
        with core_failures(f"publish to {topic!r}"):
            while not (
                number := link.publish(
                    topic,
                    data,
                    qos,
                    retain,
                    user_properties=properties,
                    content_type=content_type,
                    response_topic=response_topic,
                    correlation_data=correlation_data,
                    message_expiry_s=message_expiry_s,
                )
            ):
                until = _now() + patience_s if until is None else until
                if not await news.wait(until - _now()):
                    raise outgoing.no_room(topic, patience_s)
        return number

    async def flush(self, timeout_s: float | None = None) -> None:
        """Waits until everything is sent and answered; see `Publisher.flush`."""
        link, news = self._connected()
        patience_s = self._outgoing.plan.timeout_s if timeout_s is None else timeout_s
        until = _now() + patience_s
        with core_failures(self._outgoing.plan.url):
            while not link.flush(0.0):
                if not await news.wait(until - _now()):
                    raise self._outgoing.not_flushed(link, patience_s)

    async def close(self, timeout_s: float | None = None) -> None:
        """Flushes, says goodbye and closes; see `Publisher.close`."""
        if self._open is None:
            return
        link, news = self._open
        try:
            await self.flush(timeout_s)
        finally:
            self._open = None
            news.close()
            await asyncio.to_thread(link.close, GOODBYE_S)

    def abort(self) -> None:
        """Closes without a word; what is not answered may be lost."""
        if self._open is not None:
            link, news = self._open
            self._open = None
            news.close()
            link.abort()

    async def __aenter__(self) -> Self:
        return await self.connect()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            await self.close()
            return
        try:
            await self.close()
        except LapwingError:
            # The error on its way out says more than the goodbye that failed because of it.
            self.abort()

    def _connected(self) -> tuple[_core.Link, News]:
        if self._open is None:
            raise LapwingError("not connected", where=self._outgoing.plan.url, remedy="use `async with`")
        return self._open


def _now() -> float:
    return asyncio.get_running_loop().time()
