"""Loops of an asyncio consumer over what it takes."""

from __future__ import annotations

import asyncio
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from lapwing import _core
from lapwing.client.failures import core_failures
from lapwing.client.hands import Hands
from lapwing.client.intake import Delivery, Intake
from lapwing.client.news import News

Hear = Callable[[float | None], Awaitable[bool]]
"""Waits for news of the link, so many seconds at most; false when there was none in time."""

Connect = Callable[[], Awaitable[object]]
"""Connects, if it has not."""

_AnyTask = asyncio.Task[Any]
_BEGUN_MAX = 64
"""Batches that were cancelled and wait for the next loop: of so many it is known since when, of the last ones."""


class AsyncHands(Hands):
    """The tasks that are at work, the loops that go on, and what was in hand of those that were left.

    Used by one event loop.

    Attributes:
        news: That of the connection; who waits for loops to be over hears of it there.
    """

    def __init__(self) -> None:
        super().__init__()
        self.news: News | None = None
        self._loops: weakref.WeakSet[AsyncLoop] = weakref.WeakSet()
        self._began: list[tuple[Delivery, float]] = []

    def begun_at(self, batch: list[Delivery]) -> float:
        """When a batch of these messages began to wait for more: now, or before it was cancelled, by whichever loop."""
        ours = set(map(id, batch))
        began = [at for message, at in self._began if id(message) in ours]
        self._began = [each for each in self._began if id(each[0]) not in ours]
        return min([_now(), *began])

    def was_cancelled(self, batch: list[Delivery], begun_at: float) -> None:
        """It waited since then: a caller whose patience is shorter than a batch's would else never get one."""
        self._began = [*self._began, (batch[0], begun_at)][-_BEGUN_MAX:]

    def begins(self, loop: AsyncLoop) -> None:
        """A loop has been started."""
        self._loops.add(loop)

    def loops(self) -> list[AsyncLoop]:
        """All: a task may answer what another has in hand."""
        return list(self._loops)

    def ends(self, loop: AsyncLoop) -> None:
        """It is over."""
        loop.goes_on = False
        if self.news is not None and loop.thread == threading.get_ident():  # not the garbage collector of another
            self.news.wake()

    def is_left(self, loop: AsyncLoop) -> None:
        """Nobody has it any more; what it has in hand waits for the next loop."""
        if loop.link is not None:
            self.left.put(loop.link, loop.task, loop.in_hand)
        loop.in_hand = []
        self.ends(loop)

    def end_own_loops(self, link: _core.Link, *, finished: bool) -> None:
        """The loops of this task are over; what they have, or had, in hand is done, or left to others."""
        me = asyncio.current_task()
        end = link.finish if finished else link.leave
        for loop in self.loops():
            if loop.link is link and loop.task is me:
                end(loop.in_hand)
                loop.in_hand = []
                loop.is_closed = True
                self.ends(loop)
        end(self.left.take_of(link, me))

    def end_loops(self, link: _core.Link) -> None:
        """Its connection is over: loops give nothing more of what waits, which is the broker's."""
        for loop in self.loops():
            if loop.link is link:
                loop.is_closed = True
                self.ends(loop)

    def others_work(self) -> bool:
        """Whether a loop of another task goes on; what a task that is over has in hand is nobody's work."""
        me = asyncio.current_task()
        return any(loop.goes_on and loop.task is not me and not _is_over(loop.task) for loop in self.loops())


class AsyncLoop(ABC):
    """What loops over messages and over batches share: see `lapwing.client.loops.Loop`.

    Attributes:
        link: Whence its messages come; None before the first is asked for.
        thread: That of its event loop; the garbage collector may come by another.
        task: Whose work its messages are: of the task that asked for the last; None before the event loop runs.
        goes_on: It has been asked for a message, and is not over.
        is_closed: It gives nothing more.
        in_hand: What it has given and not heard of; whoever leaves the loop leaves that to the next one.
    """

    def __init__(
        self, connect: Connect, intake: Intake, hands: AsyncHands, hear: Hear, timeout_s: float | None
    ) -> None:
        self.in_hand: list[Delivery] = []
        self.link: _core.Link | None = None
        self.thread = threading.get_ident()
        self.task = self._began_by = _task_now()
        self.goes_on = False
        self.is_closed = False
        self._asked_by: _AnyTask | None = None
        self._connect = connect
        self._intake = intake
        self._hear = hear
        self._timeout_s = timeout_s
        self._hands = hands
        hands.begins(self)

    def __del__(self) -> None:
        hands = getattr(self, "_hands", None)
        if hands is not None:
            hands.is_left(self)

    async def aclose(self) -> None:
        """Leaves the loop, as `break` does; for ``contextlib.aclosing``."""
        self.is_closed = True
        self._hands.is_left(self)

    @abstractmethod
    def _taken(self, link: _core.Link) -> list[Delivery]:
        """What is here now."""

    async def _next(self) -> tuple[_core.Link, list[Delivery]]:
        if self.link is None and not self.is_closed:
            await self._connect()
            self.link = self._intake.connected()
        if self.link is not None:
            self.link.finish(self.in_hand)
        self.in_hand = []
        if self.link is None or self.is_closed:
            raise StopAsyncIteration
        if (task := asyncio.current_task()) is not self._asked_by:
            self._is_asked(task)
        self.goes_on = True
        return self.link, self._taken(self.link) or await self._waited_for(self.link)

    async def _waited_for(self, link: _core.Link) -> list[Delivery]:
        until = None if self._timeout_s is None else _now() + self._timeout_s
        try:
            with core_failures(self._intake.plan.url):
                while not link.is_dry() and await self._hear(None if until is None else until - _now()):
                    if taken := self._taken(link):
                        return taken
        except BaseException:
            self._hands.ends(self)
            raise
        self._hands.ends(self)
        raise StopAsyncIteration

    def _is_asked(self, task: _AnyTask | None) -> None:
        self._asked_by = task
        # A task for the asking alone, as `wait_for` makes them, is over before the work begins.
        self.task = self._began_by if _only_asks(task) else task


class AsyncMessages(AsyncLoop, AsyncIterator[Delivery]):
    """One by one."""

    async def __anext__(self) -> Delivery:
        _, self.in_hand = await self._next()
        return self.in_hand[0]

    def _taken(self, link: _core.Link) -> list[Delivery]:
        message = self._hands.next_message(link, None, 0.0)
        return [] if message is None else [message]


class AsyncBatches(AsyncLoop, AsyncIterator[list[Delivery]]):
    """By the batch."""

    def __init__(
        self,
        connect: Connect,
        intake: Intake,
        hands: AsyncHands,
        hear: Hear,
        timeout_s: float | None,
        size: int,
        wait_s: float,
    ) -> None:
        super().__init__(connect, intake, hands, hear, timeout_s)
        self._size = size
        self._wait_s = wait_s

    async def __anext__(self) -> list[Delivery]:
        link, batch = await self._next()
        begun_at = self._hands.begun_at(batch)
        try:
            await self._fill(link, batch, begun_at + self._wait_s)
        except BaseException:  # cancelled: nobody has seen it
            self._hands.left.put(link, None, batch)
            self._hands.was_cancelled(batch, begun_at)
            self._hands.ends(self)
            raise
        self.in_hand = batch
        return list(batch)

    def _taken(self, link: _core.Link) -> list[Delivery]:
        return self._hands.left.take(link, self._size) or link.take(self._size, 0.0)

    async def _fill(self, link: _core.Link, batch: list[Delivery], until: float) -> None:
        while len(batch) < self._size:
            batch += link.take(self._size - len(batch), 0.0)
            left_s = until - _now()
            if len(batch) < self._size and (left_s <= 0 or not await self._hear(left_s)):
                return


def _now() -> float:
    return asyncio.get_running_loop().time()


def _task_now() -> _AnyTask | None:
    try:
        return asyncio.current_task()
    except RuntimeError:  # no event loop runs: a loop may be made before
        return None


def _only_asks(task: _AnyTask | None) -> bool:
    return task is not None and getattr(task.get_coro(), "__name__", "") == "__anext__"


def _is_over(task: _AnyTask | None) -> bool:
    return task is None or task.done()
