"""The consumer for asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from types import TracebackType
from typing import Literal, Self, Unpack

from lapwing import _core
from lapwing.client.async_loops import AsyncBatches, AsyncHands, AsyncMessages
from lapwing.client.counters import Counters
from lapwing.client.failures import core_failures
from lapwing.client.intake import Delivery, Intake
from lapwing.client.news import News
from lapwing.client.options import POLL_S, ConnectOptions
from lapwing.errors import LapwingError, TimedOutError


class AsyncConsumer:
    """`Consumer` for one event loop: the same arguments and promises; ``workers`` are tasks of ``run``.

    Used with ``async with``; errors are those of `Consumer`.
    """

    def __init__(
        self,
        url: str,
        filters: str | Sequence[str],
        *,
        group: str | None = None,
        qos: int = 1,
        workers: int = 1,
        ack: Literal["processed", "received"] = "processed",
        on_error: Literal["refuse", "stop"] = "refuse",
        high: int = 1000,
        low: int | None = None,
        high_bytes: int = 64 << 20,
        batch: int | None = None,
        probe_ms: int | None = None,
        report: bool = True,
        report_every: int = 1,
        envelope: bool = False,
        **connect: Unpack[ConnectOptions],
    ) -> None:
        self._intake = Intake(
            url,
            filters,
            group=group,
            qos=qos,
            workers=workers,
            ack=ack,
            on_error=on_error,
            high=high,
            low=low,
            high_bytes=high_bytes,
            batch=batch,
            probe_ms=probe_ms,
            report=report,
            report_every=report_every,
            envelope=envelope,
            connect=connect,
        )
        self.client_id = self._intake.plan.client_id
        self._news: News | None = None
        self._hands = AsyncHands()
        self._runs = 0
        self._run_closes = False
        self._opening = asyncio.Lock()

    async def connect(self) -> Self:
        """Connects and subscribes; a consumer that has connected stays as it is."""
        # Two links would have one client id, and each would end the other's connection.
        async with self._opening:
            if not self._intake.is_open:
                self._news = self._hands.news = await self._intake.open_async()
        return self

    @property
    def counters(self) -> Counters:
        """What was counted, and how things stand."""
        return self._intake.counters()

    def __aiter__(self) -> AsyncIterator[Delivery]:
        return self.messages()

    def alive(self) -> None:
        """Says that work goes on, in a handler that may take seconds; see `Consumer.alive`."""
        self._intake.connected().report()

    def messages(self, timeout_s: float | None = None) -> AsyncMessages:
        """Messages as they come; see `Consumer.messages`. ``aclose`` leaves the loop, as `break` does."""
        return AsyncMessages(self.connect, self._intake, self._hands, self._hear, timeout_s)

    def batches(
        self,
        max: int | None = None,  # noqa: A002 (the word for it)
        wait_ms: float = 50.0,
        timeout_s: float | None = None,
    ) -> AsyncBatches:
        """Messages by the batch; see `Consumer.batches`."""
        size = self._intake.batch_of(max)
        return AsyncBatches(self.connect, self._intake, self._hands, self._hear, timeout_s, size, wait_ms / 1000)

    async def run(self, handler: Callable[[Delivery], Awaitable[object]]) -> None:
        """Awaits ``handler`` for each message, in ``workers`` tasks, until ``close``; see `Consumer.run`."""
        await self.connect()
        self._runs += 1
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(self._intake.workers):
                    group.create_task(self._work(handler))
        except* Exception as failures:
            # As the handler raised it: that others were cancelled for it says nothing.
            raise failures.exceptions[0] from None
        finally:
            self._runs -= 1
            self._wake()
        if self._run_closes:
            self._run_closes = False
            await self.close()

    async def done(self, *messages: Delivery) -> None:
        """See `Consumer.done`."""
        self._hands.answered(messages)
        self._intake.connected().finish(messages)

    async def refuse(self, message: Delivery, reason: str = "", code: int = 0x80) -> None:
        """See `Consumer.refuse`."""
        self._intake.refuse([message], reason, code)
        self._hands.answered([message])

    async def reply(self, message: Delivery, payload: bytes | str, *, qos: int = 1) -> None:
        """See `Consumer.reply`."""
        topic, correlation_data = self._intake.reply_arguments(message)
        data = payload.encode() if isinstance(payload, str) else payload
        patience_s = self._intake.plan.timeout_s
        until = asyncio.get_running_loop().time() + patience_s
        with core_failures(f"reply to {topic!r}"):
            while not self._intake.connected().publish(topic, data, qos, correlation_data=correlation_data):
                if not await self._hear(until - asyncio.get_running_loop().time()):
                    what = f"no room for a reply within {patience_s:g} s"
                    raise TimedOutError(what, where=topic, remedy="look at the broker")

    async def close(self, timeout_s: float | None = None) -> None:
        """Takes in no more, lets ``run`` and loops of other tasks finish what is here, says goodbye.

        See `Consumer.close`: what a thread is there, a task is here. Called in a handler it does not wait: ``run``
        closes when it has finished. Nobody acknowledges what a task has in hand that was cancelled, or has ended
        otherwise.
        """
        if not self._intake.is_open:
            return
        patience_s = self._intake.plan.timeout_s if timeout_s is None else timeout_s
        link = self._intake.connected()
        link.drain()
        self._hands.end_own_loops(link, finished=True)
        if self._hands.is_worker(asyncio.current_task()):
            self._run_closes = True
            return
        await self._wait_for_others(patience_s)
        await self._say_goodbye(link, patience_s)

    def abort(self) -> None:
        """Closes without a word, as a crash would."""
        if self._news is not None:
            self._news.close()
        self._intake.abort()

    async def __aenter__(self) -> Self:
        return await self.connect()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            await self._close_or_abort()
            return
        if self._intake.is_open:
            link = self._intake.connected()
            self._hands.end_own_loops(link, finished=False)
            await self._say_goodbye(link, self._intake.plan.timeout_s)

    async def _close_or_abort(self) -> None:
        try:
            await self.close()
        except BaseException:  # cancelled: nobody comes back to close it, and the messages here are to go to others
            self.abort()
            raise

    async def _wait_for_others(self, timeout_s: float) -> None:
        until = asyncio.get_running_loop().time() + timeout_s
        while self._intake.is_open and (self._runs or self._hands.others_work()):
            left_s = until - asyncio.get_running_loop().time()
            if left_s <= 0:
                return
            await self._hear(min(left_s, POLL_S))  # a task that ends with its loop in a variable is no news

    async def _say_goodbye(self, link: _core.Link, timeout_s: float) -> None:
        if self._intake.link is link:
            self._intake.is_open = False
            self._hands.end_loops(link)
            if self._news is not None:
                self._news.close()
        await asyncio.to_thread(link.close, timeout_s)

    async def _work(self, handler: Callable[[Delivery], Awaitable[object]]) -> None:
        link = self._intake.connected()
        with self._hands.worker(asyncio.current_task()) as hand:
            while (message := await self._next(link)) is not None:
                hand.in_hand = [message]
                try:
                    await _handled(handler, message)
                    link.finish([message])
                except BaseException as error:
                    if self._intake.stops_on_error or not isinstance(error, Exception):
                        self._hands.not_done(link, hand)
                        raise
                    self._intake.failed([message], error)

    async def _next(self, link: _core.Link) -> Delivery | None:
        while self._intake.is_open and self._intake.link is link:
            if (message := self._hands.next_message(link, None, 0.0)) is not None:
                return message
            with core_failures(self._intake.plan.url):
                if link.is_dry() or not await self._hear(None):
                    break
        return None

    async def _hear(self, timeout_s: float | None) -> bool:
        return self._news is not None and await self._news.wait(timeout_s)

    def _wake(self) -> None:
        if self._news is not None:
            self._news.wake()


async def _handled(handler: Callable[[Delivery], Awaitable[object]], message: Delivery) -> None:
    """A cancellation that nobody asked of this task is a failure of its handler: a task group takes it for no error."""
    try:
        await handler(message)
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        what, remedy = "what a handler awaited was cancelled", "catch CancelledError there"
        raise LapwingError(what, where=f"message on {message.topic!r}", remedy=remedy) from error
