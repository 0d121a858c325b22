"""Hands commands to the post, and finds out which of them the broker has, and which it refuses."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterable, Sequence

from lapwing.errors import LapwingError
from lapwing.pipeline.commands.entry import SECOND_US, Entry
from lapwing.pipeline.commands.post import Post

LOG = logging.getLogger("lapwing.controller")

_SORTING_S = 5.0
"""So long at most it looks for those that are refused; what is still mixed then is put off."""


class Handover:
    """Commands on their way to the broker; used under the desk's lock.

    The post says of all that it was given whether the broker refused some, not which. So those of a round that went
    wrong are given again by halves, until the ones to blame are alone: one that is refused does not stop the others.
    What goes again may come twice; devices drop it.

    Args:
        post: Carries them.
        put_off_us: One that is refused is tried again after so long.
        now_us: The clock.
    """

    def __init__(self, post: Post, put_off_us: int, now_us: Callable[[], int]) -> None:
        self._post, self._put_off_us, self._now_us = post, put_off_us, now_us
        self._out: dict[str, Entry] = {}
        self._later: dict[str, int] = {}
        self._told: list[tuple[str, LapwingError]] = []
        self.refused = 0
        """Commands that were refused, each time that they were."""

    def is_free(self, command_id: str, now_us: int) -> bool:
        """Whether it may be given: it is not under way, and has not just been refused."""
        return command_id not in self._out and self._later.get(command_id, 0) <= now_us

    def give(self, entries: Sequence[Entry], timeout_s: float) -> set[str]:
        """Gives them to the post; returns the ids of all that the broker has by now, also from earlier rounds.

        Args:
            entries: What is to be said.
            timeout_s: How long to wait for the broker. What it does not have then is under way.
        """
        taken: set[str] = set()
        rounds = [list(entries)]
        deadline = time.monotonic() + _SORTING_S
        while rounds:
            self._send(rounds.pop())
            try:
                if self._out and not self._post.flush(timeout_s):
                    break
            except LapwingError as error:
                rounds += self._apart(error, is_late=time.monotonic() > deadline)
                continue
            taken |= self._out.keys()
            self._out.clear()
        self._tell()
        return taken

    def _send(self, entries: Iterable[Entry]) -> None:
        now_us = self._now_us()
        for entry in entries:
            left_s = math.ceil((entry.over_at - now_us) / SECOND_US)
            try:
                self._post.send(entry.device, entry.id, entry.payload, max(1, left_s))
            except LapwingError as error:
                self._put_off([entry], error)
            else:
                self._out[entry.id] = entry

    def _apart(self, error: LapwingError, *, is_late: bool) -> list[list[Entry]]:
        """What is to be tried next: the halves of what is under way, of which some were refused."""
        suspects = list(self._out.values())
        self._out.clear()
        if len(suspects) == 1 or is_late:
            self._put_off(suspects, error)
            return []
        half = len(suspects) // 2
        return [suspects[half:], suspects[:half]]

    def _put_off(self, entries: Sequence[Entry], error: LapwingError) -> None:
        again_us = self._now_us() + self._put_off_us
        self._later.update((entry.id, again_us) for entry in entries)
        self._told += [(entry.id, error) for entry in entries]
        self.refused += len(entries)

    def _tell(self) -> None:
        """One line for all of a call: there may be hundreds."""
        if self._told:
            name, error = self._told[0]
            LOG.error("%d commands could not be published, %s the first: %s", len(self._told), name, error)
            now_us = self._now_us()
            self._later = {name: at for name, at in self._later.items() if at > now_us}
            self._told.clear()
