"""What the loops of one consumer have in hand, and had that were left."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
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


class Hands(ABC):
    """Messages go from loop to loop, the oldest first, until they are answered."""

    def __init__(self) -> None:
        self.left = LeftInHand()

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

    def answered(self, messages: Sequence[Delivery]) -> None:
        """They were done or refused: none of these loops, once it is left, leaves them to another."""
        self.left.answered(messages)
        for loop in self.loops():
            loop.in_hand = without(loop.in_hand, messages)
