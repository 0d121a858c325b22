"""Requests: a message that asks, and the reply that comes back on a topic of our own."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from types import TracebackType
from typing import Self, Unpack

from lapwing import _core
from lapwing.client.failures import core_failures
from lapwing.client.intake import Delivery
from lapwing.client.news import News, start_async
from lapwing.client.options import POLL_S, ConnectOptions, LinkPlan
from lapwing.client.outgoing import encoded
from lapwing.errors import ConfigError, LapwingError, TimedOutError

_SESSION_S = 60


class Requester:
    """Asks and waits for the reply (MQTT 5.0); several threads may ask at a time.

    Args:
        url: The broker: ``tcp://HOST:PORT``, ``tls://``, ``ws://HOST:PORT/PATH`` or ``wss://``.
        reply_topic: Where replies come; by default ``replies/CLIENT_ID``. This client must be allowed to subscribe
            to it, and whoever replies to publish there.
        connect: How to connect: see `ConnectOptions`.

    Raises:
        ConnectError: nobody answers there, or the broker refused the connection.
        TimedOutError: no reply in time.
        LapwingError: the broker refused the request, or ended the connection for good.
    """

    def __init__(self, url: str, *, reply_topic: str | None = None, **connect: Unpack[ConnectOptions]) -> None:
        self._asked = _Asked(url, reply_topic, connect)
        self.reply_topic = self._asked.reply_topic
        self._link: _core.Link | None = None
        self._pending: dict[bytes, Future[Delivery]] = {}

    def connect(self) -> Self:
        """Connects; a requester that has connected stays so."""
        if self._link is None:
            link = self._link = self._asked.plan.start_and_wait()
            threading.Thread(target=self._hand_out, args=(link,), name="lapwing-replies", daemon=True).start()
        return self

    def request(
        self,
        topic: str,
        payload: bytes | str,
        *,
        timeout_s: float = 10.0,
        qos: int = 1,
        user_properties: Sequence[tuple[str, str]] = (),
    ) -> Delivery:
        """Publishes a request and returns the reply.

        Raises:
            TimedOutError: no reply within ``timeout_s``; one that comes later is thrown away.
        """
        link = self.connect()._link
        assert link is not None
        correlation = self._asked.next_correlation()
        reply = self._pending[correlation] = Future()
        try:
            self._asked.send(link, topic, payload, correlation, timeout_s, qos, user_properties)
            return reply.result(timeout_s)
        except TimeoutError:
            raise self._asked.no_reply(link, topic, timeout_s) from None
        finally:
            self._pending.pop(correlation, None)

    def close(self) -> None:
        """Says goodbye and closes; who still waits is told. Does nothing when not connected."""
        link, self._link = self._link, None
        if link is not None:
            link.close(self._asked.plan.timeout_s)

    def __enter__(self) -> Self:
        return self.connect()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _hand_out(self, link: _core.Link) -> None:
        failure: LapwingError = LapwingError("closed before the reply came", where=self._asked.plan.url)
        try:
            with core_failures(self._asked.plan.url):
                while not link.is_dry():
                    replies = link.take(256, POLL_S)
                    for reply in replies:
                        waiting = self._pending.pop(reply.correlation_data or b"", None)
                        if waiting is not None:
                            waiting.set_result(reply)
                    link.finish(replies)
        except LapwingError as error:
            failure = error
        for correlation in list(self._pending):
            if waiting := self._pending.pop(correlation, None):
                waiting.set_exception(failure)


class AsyncRequester:
    """`Requester` for one event loop: the same arguments, promises and errors. Used with ``async with``."""

    def __init__(self, url: str, *, reply_topic: str | None = None, **connect: Unpack[ConnectOptions]) -> None:
        self._asked = _Asked(url, reply_topic, connect)
        self.reply_topic = self._asked.reply_topic
        self._open: tuple[_core.Link, News, asyncio.Task[None]] | None = None
        self._pending: dict[bytes, asyncio.Future[Delivery]] = {}

    async def connect(self) -> Self:
        """Connects; a requester that has connected stays so."""
        if self._open is None:
            link, news = await start_async(self._asked.plan)
            self._open = (link, news, asyncio.create_task(self._hand_out(link, news)))
        return self

    async def request(
        self,
        topic: str,
        payload: bytes | str,
        *,
        timeout_s: float = 10.0,
        qos: int = 1,
        user_properties: Sequence[tuple[str, str]] = (),
    ) -> Delivery:
        """Publishes a request and returns the reply; see `Requester.request`."""
        await self.connect()
        assert self._open is not None
        link = self._open[0]
        correlation = self._asked.next_correlation()
        reply: asyncio.Future[Delivery] = asyncio.get_running_loop().create_future()
        self._pending[correlation] = reply
        try:
            async with asyncio.timeout(timeout_s):
                self._asked.send(link, topic, payload, correlation, 0.0, qos, user_properties)
                return await reply
        except TimeoutError:
            raise self._asked.no_reply(link, topic, timeout_s) from None
        finally:
            self._pending.pop(correlation, None)

    async def close(self) -> None:
        """Says goodbye and closes; who still waits is told. Does nothing when not connected."""
        if self._open is None:
            return
        (link, news, task), self._open = self._open, None
        link.drain()
        await task
        news.close()
        await asyncio.to_thread(link.close, self._asked.plan.timeout_s)

    async def __aenter__(self) -> Self:
        return await self.connect()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _hand_out(self, link: _core.Link, news: News) -> None:
        failure: LapwingError = LapwingError("closed before the reply came", where=self._asked.plan.url)
        try:
            with core_failures(self._asked.plan.url):
                while not link.is_dry():
                    replies = link.take(256, 0.0)
                    for reply in replies:
                        waiting = self._pending.pop(reply.correlation_data or b"", None)
                        if waiting is not None and not waiting.done():
                            waiting.set_result(reply)
                    link.finish(replies)
                    if not replies:
                        await news.wait()
        except LapwingError as error:
            failure = error
        for waiting in self._pending.values():
            if not waiting.done():
                waiting.set_exception(failure)


class _Asked:
    """How both put a request together."""

    def __init__(self, url: str, reply_topic: str | None, connect: ConnectOptions) -> None:
        self.plan = LinkPlan(url, connect, session_expiry_s=_SESSION_S)
        if self.plan.version != 5:
            raise ConfigError(
                f"requests with version = {self.plan.version}", remedy="requests need MQTT 5.0: version=5"
            )
        self.reply_topic = reply_topic or f"replies/{self.plan.client_id}"
        self.plan.settings["filters"] = [self.reply_topic]
        self.plan.settings["qos"] = 1
        self._numbers = itertools.count(1)

    def next_correlation(self) -> bytes:
        """Data that no other request of this client carries."""
        return next(self._numbers).to_bytes(8, "big")

    def send(
        self,
        link: _core.Link,
        topic: str,
        payload: bytes | str,
        correlation: bytes,
        timeout_s: float,
        qos: int,
        user_properties: Sequence[tuple[str, str]],
    ) -> None:
        """Hands the request over."""
        with core_failures(f"request to {topic!r}"):
            taken = link.publish(
                topic,
                encoded(payload),
                qos,
                user_properties=list(user_properties),
                response_topic=self.reply_topic,
                correlation_data=correlation,
                timeout_s=timeout_s,
            )
        if not taken:
            raise TimedOutError("no room for a request", where=f"request to {topic!r}", remedy="ask less at a time")

    def no_reply(self, link: _core.Link, topic: str, timeout_s: float) -> LapwingError:
        """The error for a reply that did not come: the broker's refusal, if there was one."""
        try:
            with core_failures(f"request to {topic!r}"):
                link.flush(0.0)
        except LapwingError as refusal:
            return refusal
        return TimedOutError(
            f"no reply within {timeout_s:g} s",
            where=f"request to {topic!r}",
            remedy="see that somebody answers there, or wait longer",
        )
