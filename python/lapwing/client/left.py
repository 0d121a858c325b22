"""What loops had in hand that were left before they asked for the next message."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lapwing import _core


class _Hand(NamedTuple):
    link: _core.Link
    owner: object
    messages: list[_core.Delivery]


class LeftInHand:
    """Messages that loops of one consumer left unanswered: the next loop begins with them.

    A loop that is left does not say why: its work may be done, or have failed.
    """

    def __init__(self) -> None:
        # A loop may be given up by the garbage collector, in the midst of anything that its thread does here.
        self._lock = threading.RLock()
        self._hands: list[_Hand] = []

    def put(self, link: _core.Link, owner: object, messages: Iterable[_core.Delivery]) -> None:
        """A loop of ``owner``, a thread or a task, was left with these in hand; None: nobody may take them for done."""
        if hand := list(messages):
            with self._lock:
                self._hands.append(_Hand(link, owner, hand))

    def take(self, link: _core.Link, most: int) -> list[_core.Delivery]:
        """Up to ``most`` of them, the oldest first; what came by another link is that one's no more."""
        taken: list[_core.Delivery] = []
        if not self._hands:  # as a rule; each message asks
            return taken
        with self._lock:
            self._hands = [hand for hand in self._hands if hand.link is link]
            while self._hands and len(taken) < most:
                messages = self._hands[0].messages
                room = most - len(taken)
                taken += messages[:room]
                del messages[:room]
                if not messages:
                    del self._hands[0]
        return taken

    def take_of(self, link: _core.Link, owner: object) -> list[_core.Delivery]:
        """Those that loops of this thread, or task, left; what came by another link is that one's no more."""
        with self._lock:
            own = [hand for hand in self._hands if hand.owner is owner]
            taken = [message for hand in own if hand.link is link for message in hand.messages]
            self._hands = [hand for hand in self._hands if hand.owner is not owner]
        return taken

    def answered(self, messages: Sequence[_core.Delivery]) -> None:
        """They were done or refused, and are given to nobody."""
        with self._lock:
            for hand in self._hands:
                hand.messages[:] = without(hand.messages, messages)
            self._hands = [hand for hand in self._hands if hand.messages]


def without(hand: Sequence[_core.Delivery], messages: Sequence[_core.Delivery]) -> list[_core.Delivery]:
    """What is in a hand but for these."""
    gone = set(map(id, messages))
    return [one for one in hand if id(one) not in gone]
