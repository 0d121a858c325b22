"""Hands commands to the post, and finds out which of them the broker has, and which it refuses."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Sequence

from lapwing.errors import LapwingError, RejectedError
from lapwing.pipeline.commands.entry import SECOND_US, Entry
from lapwing.pipeline.commands.post import Post

LOG = logging.getLogger("lapwing.controller")


class Handover:
    """Commands on their way to the broker; used under the desk's lock.

    One that is refused does not stop the others, and does not make them come twice.

    Args:
        post: Carries them.
        put_off_us: One that is refused is tried again after so long.
        now_us: The steady clock.
    """

    def __init__(self, post: Post, put_off_us: int, now_us: Callable[[], int]) -> None:
        self._post, self._put_off_us, self._now_us = post, put_off_us, now_us
        self._out: dict[str, int] = {}
        """The number that the post gave, by id."""
        self._later: dict[str, int] = {}
        self._told: list[tuple[str, str]] = []
        self.refused = 0
        """Commands that were refused, each time that they were."""

    def is_free(self, command_id: str, now_us: int) -> bool:
        """Whether it may be given: it is not under way, and has not just been refused."""
        return command_id not in self._out and self._later.get(command_id, 0) <= now_us

    def give(self, entries: Sequence[Entry], timeout_s: float) -> set[str]:
        """Gives them to the post; returns the ids of all that the broker has by now, also from earlier calls.

        Args:
            entries: What is to be said.
            timeout_s: How long to wait for the broker. What it does not have then is under way.
        """
        self._send(entries)
        taken: set[str] = set()
        if self._out and self._is_answered(timeout_s):
            taken = set(self._out)
            self._out.clear()
        self._tell()
        return taken

    def _send(self, entries: Iterable[Entry]) -> None:
        now_us = self._now_us()
        for entry in entries:
            left_s = math.ceil((entry.over_at - entry.now_us(now_us)) / SECOND_US)
            try:
                number = self._post.send(entry.device, entry.id, entry.payload, max(1, left_s))
            except LapwingError as error:
                self._put_off([entry.id], str(error))
            else:
                self._out[entry.id] = number

    def _is_answered(self, timeout_s: float) -> bool:
        """Whether the broker has all that is still out then: what it refused is put off."""
        try:
            return self._post.flush(timeout_s)
        except RejectedError as error:
            ids = {number: name for name, number in self._out.items()}
            # The post has messages of its own, too.
            for rejection in (each for each in error.rejections if each.number in ids):
                del self._out[ids[rejection.number]]
                self._put_off([ids[rejection.number]], rejection.words)
            if error.count > len(error.rejections):
                self._put_off_all(error)
        except LapwingError as error:
            self._put_off_all(error)
        return True

    def _put_off_all(self, error: LapwingError) -> None:
        self._put_off(list(self._out), str(error))
        self._out.clear()

    def _put_off(self, ids: Sequence[str], why: str) -> None:
        again_us = self._now_us() + self._put_off_us
        self._later.update((name, again_us) for name in ids)
        self._told += [(name, why) for name in ids]
        self.refused += len(ids)

    def _tell(self) -> None:
        """One line for all of a call: there may be hundreds."""
        if self._told:
            name, why = self._told[0]
            LOG.error("%d commands could not be published, %s the first: %s", len(self._told), name, why)
            now_us = self._now_us()
            self._later = {name: at for name, at in self._later.items() if at > now_us}
            self._told.clear()
