"""Loops of an asyncio consumer over what it takes."""

from __future__ import annotations

import asyncio
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable

from lapwing import _core
from lapwing.client.failures import core_failures
from lapwing.client.hands import Hands
from lapwing.client.intake import Delivery, Intake

Hear = Callable[[float | None], Awaitable[bool]]
"""Waits for news of the link, so many seconds at most; false when there was none in time."""


Connect = Callable[[], Awaitable[object]]
"""Connects, if it has not."""


class AsyncHands(Hands):
    """Those of one event loop."""

    def __init__(self) -> None:
        super().__init__()
        self._loops: weakref.WeakSet[AsyncLoop] = weakref.WeakSet()

    def begins(self, loop: AsyncLoop) -> None:
        """A loop has been started."""
        self._loops.add(loop)

    def own_loops(self) -> list[AsyncLoop]:
        """All: one event loop has them."""
        return list(self._loops)

    def is_left(self, loop: AsyncLoop) -> None:
        """Nobody has it any more; what it has in hand waits for the next loop."""
        if loop.link is not None:
            self.left.put(loop.link, loop.thread, loop.in_hand)
        loop.in_hand = []

    def empty(self) -> list[Delivery]:
        """All that is, or was, in hand; it is in nobody's any more."""
        held = self.left.take_of(threading.get_ident())
        for loop in self.own_loops():
            held += loop.in_hand
            loop.in_hand = []
        return held


class AsyncLoop(ABC):
    """What loops over messages and over batches share: see `lapwing.client.loops.Loop`.

    Attributes:
        link: Whence its messages come; None before the first is asked for.
        thread: That of its event loop; the garbage collector may come by another.
        in_hand: What it has given and not heard of; whoever leaves the loop leaves that to the next one.
    """

    def __init__(
        self, connect: Connect, intake: Intake, hands: AsyncHands, hear: Hear, timeout_s: float | None
    ) -> None:
        self.in_hand: list[Delivery] = []
        self.link: _core.Link | None = None
        self.thread = threading.get_ident()
        self._connect = connect
        self._intake = intake
        self._hear = hear
        self._timeout_s = timeout_s
        self._hands = hands
        self._is_closed = False
        hands.begins(self)

    def __del__(self) -> None:
        hands = getattr(self, "_hands", None)
        if hands is not None:
            hands.is_left(self)

    async def aclose(self) -> None:
        """Leaves the loop, as `break` does; for ``contextlib.aclosing``."""
        self._is_closed = True
        self._hands.is_left(self)

    @abstractmethod
    def _taken(self, link: _core.Link) -> list[Delivery]:
        """What is here now."""

    async def _next(self) -> tuple[_core.Link, list[Delivery]]:
        if self._is_closed:
            raise StopAsyncIteration
        if self.link is None:
            await self._connect()
            self.link = self._intake.connected()
        self.link.finish(self.in_hand)
        self.in_hand = []
        with core_failures(self._intake.plan.url):
            while not (taken := self._taken(self.link)):
                if self.link.is_dry() or not await self._hear(self._timeout_s):
                    raise StopAsyncIteration
        return self.link, taken


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
        try:
            await self._fill(link, batch)
        except BaseException:  # cancelled: nobody has seen it
            self._hands.left.put(link, self.thread, batch)
            raise
        self.in_hand = batch
        return list(batch)

    def _taken(self, link: _core.Link) -> list[Delivery]:
        return self._hands.left.take(link, self._size) or link.take(self._size, 0.0)

    async def _fill(self, link: _core.Link, batch: list[Delivery]) -> None:
        until = asyncio.get_running_loop().time() + self._wait_s
        while len(batch) < self._size:
            batch += link.take(self._size - len(batch), 0.0)
            left_s = until - asyncio.get_running_loop().time()
            if len(batch) < self._size and (left_s <= 0 or not await self._hear(left_s)):
                return
