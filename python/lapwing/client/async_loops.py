"""Loops of an asyncio consumer over what it takes."""

from __future__ import annotations

import asyncio
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from lapwing import _core
from lapwing.client.failures import core_failures
from lapwing.client.intake import Delivery, Intake
from lapwing.client.left import LeftInHand, without

Hear = Callable[[float | None], Awaitable[bool]]
"""Waits for news of the link, so many seconds at most; false when there was none in time."""


Connect = Callable[[], Awaitable[object]]
"""Connects, if it has not."""


class AsyncHands:
    """What the loops of one consumer have in hand, and had that were left. Used by one event loop."""

    def __init__(self) -> None:
        self.left = LeftInHand()
        self._loops: weakref.WeakSet[AsyncLoop] = weakref.WeakSet()

    def begins(self, loop: AsyncLoop) -> None:
        """A loop has been started."""
        self._loops.add(loop)

    def next_message(self, link: _core.Link) -> Delivery | None:
        """What is next, first of what was left; None where nothing is here now."""
        return next(iter(self.left.take(link, 1)), None) or link.turn(None, 0.0)

    def answered(self, messages: Sequence[Delivery]) -> None:
        """They were done or refused: no loop that is left leaves them to another."""
        self.left.answered(messages)
        for loop in list(self._loops):
            loop.in_hand = without(loop.in_hand, messages)

    def empty(self) -> list[Delivery]:
        """All that is, or was, in hand; it is in nobody's any more."""
        held = self.left.take_of(threading.get_ident())
        for loop in list(self._loops):
            held += loop.in_hand
            loop.in_hand = []
        return held


class AsyncLoop(ABC):
    """What loops over messages and over batches share: see `lapwing.client.loops.Loop`."""

    def __init__(
        self, connect: Connect, intake: Intake, hands: AsyncHands, hear: Hear, timeout_s: float | None
    ) -> None:
        self.in_hand: list[Delivery] = []
        self._connect: Connect | None = connect
        self._intake = intake
        self._hear = hear
        self._timeout_s = timeout_s
        self._hands = hands
        hands.begins(self)

    def __del__(self) -> None:
        hands = getattr(self, "_hands", None)
        if hands is not None and self._intake.link is not None:
            hands.left.put(self._intake.link, threading.get_ident(), self.in_hand)

    @abstractmethod
    def _taken(self) -> list[Delivery]:
        """What is here now."""

    async def _next(self) -> list[Delivery]:
        if self._connect is not None:
            await self._connect()
            self._connect = None
        link = self._intake.connected()
        link.finish(self.in_hand)
        self.in_hand = []
        with core_failures(self._intake.plan.url):
            while not (taken := self._taken()):
                if link.is_dry() or not await self._hear(self._timeout_s):
                    raise StopAsyncIteration
        return taken


class AsyncMessages(AsyncLoop, AsyncIterator[Delivery]):
    """One by one."""

    async def __anext__(self) -> Delivery:
        self.in_hand = await self._next()
        return self.in_hand[0]

    def _taken(self) -> list[Delivery]:
        message = self._hands.next_message(self._intake.connected())
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
        batch = await self._next()
        try:
            await self._fill(batch)
        except BaseException:  # cancelled: nobody has seen it
            self._hands.left.put(self._intake.connected(), threading.get_ident(), batch)
            raise
        self.in_hand = batch
        return list(batch)

    def _taken(self) -> list[Delivery]:
        link = self._intake.connected()
        return self._hands.left.take(link, self._size) or link.take(self._size, 0.0)

    async def _fill(self, batch: list[Delivery]) -> None:
        link = self._intake.connected()
        until = asyncio.get_running_loop().time() + self._wait_s
        while len(batch) < self._size:
            batch += link.take(self._size - len(batch), 0.0)
            left_s = until - asyncio.get_running_loop().time()
            if len(batch) < self._size and (left_s <= 0 or not await self._hear(left_s)):
                return
