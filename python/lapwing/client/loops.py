"""Loops over what a consumer takes, and who is at work when it closes."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator

from lapwing.client.failures import core_failures
from lapwing.client.intake import Delivery, Intake
from lapwing.client.options import POLL_S


class Busy:
    """The threads that are at work, and what loops have in hand."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._threads: dict[int, int] = {}
        self._loops: list[Loop] = []

    def __enter__(self) -> None:
        self._count(1)

    def __exit__(self, *_: object) -> None:
        self._count(-1)

    def _count(self, step: int) -> None:
        me = threading.get_ident()
        with self._changed:
            self._threads[me] = self._threads.get(me, 0) + step
            if not self._threads[me]:
                del self._threads[me]
            self._changed.notify_all()

    def begins(self, loop: Loop) -> None:
        """A loop has been started by this thread."""
        with self._changed:
            self._loops.append(loop)

    def ends(self, loop: Loop) -> None:
        """It is over."""
        with self._changed:
            if loop in self._loops:
                self._loops.remove(loop)
            self._changed.notify_all()

    def end_own_loops(self, *, finished: bool) -> None:
        """The loops of this thread are over; what they have in hand is done, or left to others."""
        me = threading.get_ident()
        for loop in [loop for loop in self._loops if loop.thread == me]:
            loop.end(finished=finished)
            self.ends(loop)

    def wait_for_others(self, timeout_s: float) -> bool:
        """Waits until no other thread is at work; false when this one is, in a handler."""
        with self._changed:
            if threading.get_ident() in self._threads:
                return False
            self._changed.wait_for(lambda: not self._threads and not self._loops, timeout_s)
            return True


class Loop(ABC):
    """What loops over messages and over batches share."""

    def __init__(self, intake: Intake, busy: Busy, timeout_s: float | None) -> None:
        self.thread = threading.get_ident()
        self._intake = intake
        self._link = intake.connected()
        self._busy = busy
        self._timeout_s = float("inf") if timeout_s is None else timeout_s
        busy.begins(self)

    @abstractmethod
    def end(self, *, finished: bool) -> None:
        """What is in hand is done, or left to others."""

    def _is_over(self, waited_s: float) -> bool:
        """Whether nothing more comes; says goodbye if so, unless only the patience is over."""
        with core_failures(self._intake.plan.url):
            dry = self._link.is_dry()
        over = dry or waited_s >= self._timeout_s
        if over:
            self._busy.ends(self)
        if dry and self._busy.wait_for_others(0.0):
            self._intake.say_goodbye(self._intake.plan.timeout_s)
        return over


class Messages(Loop, Iterator[Delivery]):
    """One by one."""

    _in_hand: Delivery | None = None

    def __next__(self) -> Delivery:
        done, self._in_hand = self._in_hand, None
        waited_s = 0.0
        while (message := self._link.turn(done, min(POLL_S, self._timeout_s - waited_s))) is None:
            done = None
            waited_s += POLL_S
            if self._is_over(waited_s):
                raise StopIteration
        self._in_hand = message
        return message

    def end(self, *, finished: bool) -> None:
        """See `Loop`."""
        if self._in_hand is not None:
            (self._link.finish if finished else self._link.leave)([self._in_hand])


class Batches(Loop, Iterator[list[Delivery]]):
    """By the batch."""

    def __init__(self, intake: Intake, busy: Busy, timeout_s: float | None, size: int, wait_s: float) -> None:
        super().__init__(intake, busy, timeout_s)
        self._size = size
        self._wait_s = wait_s
        self._in_hand: list[Delivery] = []

    def __next__(self) -> list[Delivery]:
        self._link.finish(self._in_hand)
        self._in_hand = []
        waited_s = 0.0
        while not (batch := self._link.take(self._size, min(POLL_S, self._timeout_s - waited_s), self._wait_s)):
            waited_s += POLL_S
            if self._is_over(waited_s):
                raise StopIteration
        self._in_hand = batch
        return batch

    def end(self, *, finished: bool) -> None:
        """See `Loop`."""
        (self._link.finish if finished else self._link.leave)(self._in_hand)
