"""The seam between the desk and what carries commands and brings answers."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Protocol

from lapwing.errors import LapwingError


class Post(Protocol):
    """Carries commands to devices."""

    def send(self, device: str, command_id: str, payload: bytes, expiry_s: int) -> int:
        """Hands a command over and returns its number; the carrier drops it after ``expiry_s``.

        Raises:
            LapwingError: There is no room for it, or it cannot be carried.
        """

    def flush(self, timeout_s: float) -> bool:
        """Whether the broker has everything that was handed over, after ``timeout_s`` at most.

        Raises:
            RejectedError: The broker refused some, named by their numbers, and has all others.
            LapwingError: Nothing will be carried any more.
        """


class Hearer(Protocol):
    """Who wants to know; called from threads of the carrier."""

    def registered(self, device: str, payload: bytes, *, is_retained: bool) -> None:
        """A registration, or a last will; ``is_retained``: from before, and perhaps heard before."""

    def all_registered(self, devices: Set[str]) -> None:
        """These are all that are retained, and each has been heard: at the start, and after a broken connection."""

    def answered(self, answers: Sequence[tuple[str, bytes]]) -> None:
        """Answers, each with its device: they may be forgotten once this returns."""

    def tick(self) -> None:
        """Called about once a second, whether anything was heard or not."""

    def broken(self, error: LapwingError) -> None:
        """Nothing will be heard any more."""


class Wires(Post, Protocol):
    """A carrier both ways."""

    def open(self, hearer: Hearer) -> None:
        """Connects; on return everything that was registered before has been heard.

        Raises:
            LapwingError: Nobody answers, or the broker refuses.
        """

    def close(self) -> None:
        """Ends it: the hearer is called no more; no harm if done before."""
