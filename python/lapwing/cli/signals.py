"""Signals taken by a command for as long as it does something."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from types import FrameType


@contextmanager
def taken(numbers: Iterable[int], take: Callable[[int], None]) -> Iterator[None]:
    """Calls ``take`` with the number of each signal of ``numbers``; the handlers before are put back at the end."""

    def handle(number: int, _frame: FrameType | None) -> None:
        take(number)

    before = {number: signal.signal(number, handle) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def ended_as_by_ctrl_c() -> Iterator[None]:
    """A SIGTERM, as service managers send it, is a Ctrl-C meanwhile: what was begun is ended, and cleaned up."""
    with taken((signal.SIGTERM,), _interrupt):
        yield


def _interrupt(_number: int) -> NoReturn:
    raise KeyboardInterrupt
