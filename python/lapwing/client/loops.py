"""Loops over what a consumer takes, and who is at work when it closes."""

from __future__ import annotations

import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator

from lapwing import _core
from lapwing.client.failures import core_failures
from lapwing.client.hands import Hands
from lapwing.client.intake import Delivery, Intake
from lapwing.client.options import POLL_S


class Busy(Hands):
    """The threads that are at work, the loops that go on, and what was in hand of those that were left."""

    def __init__(self) -> None:
        super().__init__()
        self._changed = threading.Condition()
        # By themselves: the system gives the number of one that has ended to the next.
        self._threads: dict[threading.Thread, int] = {}
        self._loops: weakref.WeakSet[Loop] = weakref.WeakSet()

    def __enter__(self) -> None:
        self._count(1)

    def __exit__(self, *_: object) -> None:
        self._count(-1)

    def _count(self, step: int) -> None:
        me = threading.current_thread()
        with self._changed:
            self._threads[me] = self._threads.get(me, 0) + step
            if not self._threads[me]:
                del self._threads[me]
            self._changed.notify_all()

    def begins(self, loop: Loop) -> None:
        """A loop has been started by this thread."""
        with self._changed:
            self._loops.add(loop)

    def ends(self, loop: Loop) -> None:
        """It is over."""
        with self._changed:
            self._loops.discard(loop)
            self._changed.notify_all()

    def is_left(self, loop: Loop) -> None:
        """Nobody has it any more; what it has in hand waits for the next loop."""
        self.left.put(loop.link, loop.thread, loop.in_hand)
        self.ends(loop)

    def end_own_loops(self, link: _core.Link, *, finished: bool) -> None:
        """The loops of this thread are over; what they have, or had, in hand is done, or left to others."""
        end = link.finish if finished else link.leave
        for loop in self.loops():
            if loop.link is link:  # packet ids begin anew with each
                end(loop.in_hand)
            loop.in_hand = []
            loop.is_closed = True
            self.ends(loop)
        end(self.left.take_of(link, threading.current_thread()))

    def loops(self) -> list[Loop]:
        """Those that this thread has begun."""
        me = threading.current_thread()
        with self._changed:
            return [loop for loop in self._loops if loop.thread is me]

    def wait_for_others(self, timeout_s: float) -> bool:
        """Waits until no other thread is at work; false when this one is, in a handler."""
        with self._changed:
            if threading.current_thread() in self._threads:
                return False
            self._changed.wait_for(lambda: not self._threads and not self._loops, timeout_s)
            return True


class Loop(ABC):
    """What loops over messages and over batches share.

    Attributes:
        link: Whence its messages come.
        thread: That of who began it.
        in_hand: What it has given and not heard of; whoever leaves the loop leaves that to the next one.
        is_closed: It gives nothing more: what waits is the broker's.
    """

    def __init__(self, intake: Intake, busy: Busy, timeout_s: float | None) -> None:
        self.in_hand: list[Delivery] = []
        self.is_closed = False
        self.link = intake.connected()
        self.thread = threading.current_thread()
        self._intake = intake
        self._busy = busy
        self._timeout_s = float("inf") if timeout_s is None else timeout_s
        busy.begins(self)

    def __del__(self) -> None:
        # `break`, or an error in the loop: Python tells them apart for nobody. One that did not begin has nothing.
        busy = getattr(self, "_busy", None)
        if busy is not None:
            busy.is_left(self)

    @abstractmethod
    def _take(self, wait_s: float) -> list[Delivery]:
        """Answers what is in hand, and takes what is next; nothing where none comes in time."""

    def _next(self) -> list[Delivery]:
        if self.is_closed:
            raise StopIteration
        waited_s = 0.0
        while not (taken := self._take(min(POLL_S, self._timeout_s - waited_s))):
            waited_s += POLL_S
            if self._is_over(waited_s):
                raise StopIteration
        self.in_hand = taken
        return taken

    def _is_over(self, waited_s: float) -> bool:
        """Whether nothing more comes; says goodbye if so, unless only the patience is over."""
        with core_failures(self._intake.plan.url):
            dry = self.link.is_dry()
        over = dry or waited_s >= self._timeout_s
        if over:
            self._busy.ends(self)
        if dry and self._busy.wait_for_others(0.0):
            self._intake.say_goodbye(self._intake.plan.timeout_s)
        return over


class Messages(Loop, Iterator[Delivery]):
    """One by one."""

    def __next__(self) -> Delivery:
        return self._next()[0]

    def _take(self, wait_s: float) -> list[Delivery]:
        done, self.in_hand = next(iter(self.in_hand), None), []
        message = self._busy.next_message(self.link, done, wait_s)
        return [] if message is None else [message]


class Batches(Loop, Iterator[list[Delivery]]):
    """By the batch."""

    def __init__(self, intake: Intake, busy: Busy, timeout_s: float | None, size: int, wait_s: float) -> None:
        super().__init__(intake, busy, timeout_s)
        self._size = size
        self._wait_s = wait_s

    def __next__(self) -> list[Delivery]:
        return list(self._next())

    def _take(self, wait_s: float) -> list[Delivery]:
        self.link.finish(self.in_hand)
        self.in_hand = []
        return self._busy.left.take(self.link, self._size) or self.link.take(self._size, wait_s, self._wait_s)
