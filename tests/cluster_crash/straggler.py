"""A client that stays with a node that served, and tells it something more when another one serves."""

from __future__ import annotations

from tests.crash.books import Books, Message
from tests.crash.plan import Publishing
from tests.crash.publisher import Publisher

MESSAGES = 20


class Straggler:
    """What it says then must not be acknowledged: the node has no majority to keep it.

    Args:
        number: Of the fault; each has a client and topics of its own.
    """

    def __init__(self, number: int, books: Books) -> None:
        name = f"straggler-{number}"
        self.device = Publisher(Publishing(name, 5, False, (), (1,), True, MESSAGES, 65_535, 0), books)
        self._topic = f"r/{name}"
        self._late: list[Message] = []

    @property
    def has_stayed(self) -> bool:
        """Its connection is the one that it had."""
        return self.device.is_there

    def speak(self) -> None:
        """Retained messages, which no node keeps alone."""
        for number in range(MESSAGES):
            self._late.append(self.device.publish(f"{self._topic}/{number}", b"late", 1, retain=True))

    @property
    def acknowledged(self) -> list[Message]:
        """What of it was acknowledged all the same."""
        return [message for message in self._late if message.taken_at is not None]
