"""Requests: a message that asks, and the reply that comes back on a topic of our own."""

from __future__ import annotations

import asyncio
import itertools
import secrets
import threading
import time
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
from lapwing.client.pending import Pending
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
        RejectedError: the broker refused the request; told at once.
        LapwingError: the broker ended the connection for good.
    """

    def __init__(self, url: str, *, reply_topic: str | None = None, **connect: Unpack[ConnectOptions]) -> None:
        self._asked = _Asked(url, reply_topic, connect)
        self.reply_topic = self._asked.reply_topic
        self._open: tuple[_core.Link, Pending[Future[Delivery]]] | None = None
        self._opening = threading.Lock()

    def connect(self) -> Self:
        """Connects; a requester that has connected stays so."""
        self._opened()
        return self

    def _opened(self) -> tuple[_core.Link, Pending[Future[Delivery]]]:
        # Two links would have one client id, and each would end the other's connection.
        with self._opening:
            if self._open is None:
                # Whoever waits does so on this connection: numbers begin anew with the next.
                self._open = self._asked.plan.start_and_wait(), Pending()
                threading.Thread(target=self._hand_out, args=self._open, name="lapwing-replies", daemon=True).start()
            return self._open

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
        link, pending = self._opened()
        until = time.monotonic() + timeout_s
        correlation = self._asked.next_correlation()
        reply: Future[Delivery] = Future()
        pending.add(correlation, reply)
        number = 0
        try:
            number = self._asked.send(link, topic, payload, correlation, timeout_s, qos, user_properties)
            pending.sent(number, reply)
            return reply.result(until - time.monotonic())
        except TimeoutError:
            raise _no_reply(topic, timeout_s) from None
        finally:
            pending.forget(correlation, number)

    def close(self) -> None:
        """Says goodbye and closes; who still waits is told. Does nothing when not connected."""
        with self._opening:
            opened, self._open = self._open, None
        if opened is not None:
            opened[0].close(self._asked.plan.timeout_s)

    def __enter__(self) -> Self:
        return self.connect()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _hand_out(self, link: _core.Link, pending: Pending[Future[Delivery]]) -> None:
        failure: LapwingError = LapwingError("closed before the reply came", where=self._asked.plan.url)
        try:
            with core_failures(self._asked.plan.url):
                while not link.is_dry():
                    replies = link.take(256, POLL_S)
                    pending.replied(replies)
                    pending.refused(link.rejections())
                    link.finish(replies)
        except LapwingError as error:
            failure = error
        pending.fail(failure)


class AsyncRequester:
    """`Requester` for one event loop: the same arguments, promises and errors. Used with ``async with``."""

    def __init__(self, url: str, *, reply_topic: str | None = None, **connect: Unpack[ConnectOptions]) -> None:
        self._asked = _Asked(url, reply_topic, connect)
        self.reply_topic = self._asked.reply_topic
        self._open: tuple[_core.Link, News, Pending[asyncio.Future[Delivery]], asyncio.Task[None]] | None = None
        self._opening = asyncio.Lock()

    async def connect(self) -> Self:
        """Connects; a requester that has connected stays so."""
        async with self._opening:
            if self._open is None:
                link, news = await start_async(self._asked.plan)
                pending = Pending[asyncio.Future[Delivery]]()
                self._open = (link, news, pending, asyncio.create_task(self._hand_out(link, news, pending)))
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
        link, _, pending, _ = self._open
        correlation = self._asked.next_correlation()
        reply: asyncio.Future[Delivery] = asyncio.get_running_loop().create_future()
        pending.add(correlation, reply)
        number = 0
        try:
            async with asyncio.timeout(timeout_s):
                number = self._asked.send(link, topic, payload, correlation, 0.0, qos, user_properties)
                pending.sent(number, reply)
                return await reply
        except TimeoutError:
            raise _no_reply(topic, timeout_s) from None
        finally:
            pending.forget(correlation, number)

    async def close(self) -> None:
        """Says goodbye and closes; who still waits is told. Does nothing when not connected."""
        if self._open is None:
            return
        (link, news, _, task), self._open = self._open, None
        try:
            link.drain()
            await task
            await asyncio.to_thread(link.close, self._asked.plan.timeout_s)
        except BaseException:  # cancelled, and `task` with it
            link.abort()
            raise
        finally:
            news.close()

    async def __aenter__(self) -> Self:
        return await self.connect()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _hand_out(self, link: _core.Link, news: News, pending: Pending[asyncio.Future[Delivery]]) -> None:
        failure: LapwingError = LapwingError("closed before the reply came", where=self._asked.plan.url)
        try:
            with core_failures(self._asked.plan.url):
                while not link.is_dry():
                    replies = link.take(256, 0.0)
                    pending.replied(replies)
                    pending.refused(link.rejections())
                    link.finish(replies)
                    if not replies:
                        await news.wait()
        except LapwingError as error:
            failure = error
        finally:  # cancelled, too
            pending.fail(failure)


class _Asked:
    """How both put a request together."""

    def __init__(self, url: str, reply_topic: str | None, connect: ConnectOptions) -> None:
        self.plan = LinkPlan(url, connect, session_expiry_s=_SESSION_S)
        if self.plan.version != 5:
            raise ConfigError(
                f"requests with version = {self.plan.version}", remedy="requests need MQTT 5.0: version=5"
            )
        self.plan.begin_anew()  # Replies to an earlier process are nobody's here.
        self.reply_topic = reply_topic or f"replies/{self.plan.client_id}"
        self.plan.settings["filters"] = [self.reply_topic]
        self.plan.settings["qos"] = 1
        # From anywhere: a late reply to an earlier process of this client id comes to the same topic.
        self._numbers = itertools.count(secrets.randbits(63))

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
    ) -> int:
        """Hands the request over, and gives its number."""
        with core_failures(f"request to {topic!r}"):
            number = link.publish(
                topic,
                encoded(payload),
                qos,
                user_properties=list(user_properties),
                response_topic=self.reply_topic,
                correlation_data=correlation,
                timeout_s=timeout_s,
            )
        if not number:
            raise TimedOutError("no room for a request", where=f"request to {topic!r}", remedy="ask less at a time")
        return number


def _no_reply(topic: str, timeout_s: float) -> TimedOutError:
    return TimedOutError(
        f"no reply within {timeout_s:g} s",
        where=f"request to {topic!r}",
        remedy="see that somebody answers there, or wait longer",
    )
