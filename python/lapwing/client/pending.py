"""Requests that wait: each ends with its reply, the broker's refusal, or whatever ended the connection."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Generic, Protocol, TypeVar

from lapwing.client.intake import Delivery
from lapwing.errors import LapwingError, RejectedError, Rejection

_EARLY_MAX = 1024
"""Refusals kept that nobody waits for: of a request whose number is not known yet, or that has been given up."""


class Outcome(Protocol):
    """A future of either kind."""

    def done(self) -> bool:
        """Whether it has ended."""

    def set_result(self, result: Delivery, /) -> None:
        """Ends it."""

    def set_exception(self, exception: BaseException, /) -> None:
        """Ends it."""


Reply = TypeVar("Reply", bound=Outcome)


class Pending(Generic[Reply]):
    """By correlation data, and by the number of the publish that asked. For several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._replies: dict[bytes, Reply] = {}
        self._numbers: dict[int, Reply] = {}
        self._early: dict[int, Rejection] = {}

    def add(self, correlation: bytes, reply: Reply) -> None:
        """Before the request goes out: its reply may be here before its number is known."""
        with self._lock:
            self._replies[correlation] = reply

    def sent(self, number: int, reply: Reply) -> None:
        """The request has this number; its refusal may be here already."""
        with self._lock:
            early = self._early.pop(number, None)
            if early is None:
                self._numbers[number] = reply
            else:
                _refuse(reply, early)

    def forget(self, correlation: bytes, number: int) -> None:
        """Nobody waits for it any more."""
        with self._lock:
            self._replies.pop(correlation, None)
            self._numbers.pop(number, None)

    def replied(self, replies: Iterable[Delivery]) -> None:
        """Ends those that these are for; one that comes too late is for nobody."""
        with self._lock:
            for reply in replies:
                waiting = self._replies.pop(reply.correlation_data or b"", None)
                if waiting is not None and not waiting.done():
                    waiting.set_result(reply)

    def refused(self, rejections: Iterable[tuple[int, str, int, str]]) -> None:
        """Ends those that the broker refused."""
        with self._lock:
            for row in rejections:
                rejection = Rejection(*row)
                waiting = self._numbers.pop(rejection.number, None)
                if waiting is not None:
                    _refuse(waiting, rejection)
                    continue
                self._early[rejection.number] = rejection
                if len(self._early) > _EARLY_MAX:
                    del self._early[next(iter(self._early))]

    def fail(self, error: LapwingError) -> None:
        """Ends all."""
        with self._lock:
            for waiting in self._replies.values():
                if not waiting.done():
                    waiting.set_exception(error)
            self._replies.clear()
            self._numbers.clear()


def _refuse(reply: Outcome, rejection: Rejection) -> None:
    if not reply.done():
        what = f"the broker refused it: {rejection.words}"
        where = f"request to {rejection.topic!r}" if rejection.topic else "request"
        reply.set_exception(RejectedError(what, where=where, rejections=(rejection,)))
