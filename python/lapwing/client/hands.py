"""What the loops of one consumer have in hand, and had that were left."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from lapwing import _core
from lapwing.client.intake import Delivery
from lapwing.client.left import LeftInHand, without


class Holder(Protocol):
    """A loop that goes on.

    Attributes:
        in_hand: What it has given and not heard of.
    """

    in_hand: list[Delivery]


class Hand:
    """What a worker of `run` has in hand.

    Attributes:
        owner: Its thread, or its task.
        in_hand: The message of its handler, unless that has answered it.
    """

    def __init__(self, owner: object) -> None:
        self.owner = owner
        self.in_hand: list[Delivery] = []


class Hands(ABC):
    """Messages go from loop to loop, the oldest first, until they are answered."""

    def __init__(self) -> None:
        self.left = LeftInHand()
        self._workers: set[Hand] = set()

    @abstractmethod
    def loops(self) -> Iterable[Holder]:
        """Those whose messages may be answered by whoever asks."""

    def next_message(self, link: _core.Link, done: Delivery | None, wait_s: float) -> Delivery | None:
        """Answers ``done``, if given, and takes what is next: first of what was left; None where none comes in time."""
        left = self.left.take(link, 1)
        if not left:
            return link.turn(done, wait_s)
        if done is not None:
            link.finish([done])
        return left[0]

    @contextmanager
    def worker(self, owner: object) -> Iterator[Hand]:
        """The hand of a worker of `run`, which is this thread or task, and puts each message into it."""
        hand = Hand(owner)
        self._workers.add(hand)
        try:
            yield hand
        finally:
            self._workers.discard(hand)

    def is_worker(self, owner: object) -> bool:
        """Whether this thread, or task, is one: then it is in a handler."""
        return any(hand.owner is owner for hand in list(self._workers))

    def not_done(self, link: _core.Link, hand: Hand) -> None:
        """A worker has failed: the next loop, or `run`, begins with its message, and no `close` takes it for done."""
        self.left.put(link, None, hand.in_hand)

    def answered(self, messages: Sequence[Delivery]) -> None:
        """They were done or refused: no loop that is left, and no worker that fails, leaves them to another."""
        self.left.answered(messages)
        for hand in list(self._workers):
            held = hand.in_hand  # by any thread: its worker may have put in the next meanwhile
            held[:] = without(held, messages)
        for loop in self.loops():
            loop.in_hand = without(loop.in_hand, messages)
