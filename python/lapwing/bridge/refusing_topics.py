"""Kafka topics that take no records: missing, or not ours to write; and since when."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

_SHARE = 10
"""A strange topic that was given up is remembered so many times as long as all of them together may be waited for: no
more than a tenth of the time is spent waiting for names that somebody makes up."""


class RefusingTopics:
    """Tells which topics refused what they were sent last, and when one has been waited for long enough.

    A *strange* topic has never taken a record: the name may be made up. Where topics are given up at all, only so many
    strange ones are waited for; the next one is given up at once.

    Args:
        patience_s: How long is enough, in seconds; None: it never is.
        strange_max: Most strange topics that are waited for, or were and are remembered.
        is_strange: Whether a topic has never taken a record, as far as is known.
        now: The clock, in seconds.
    """

    def __init__(
        self,
        patience_s: float | None,
        strange_max: int = 1_000,
        is_strange: Callable[[str], bool] = lambda _: True,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._patience_s, self._strange_max = patience_s, strange_max
        self._is_strange, self._now = is_strange, now
        self._since: dict[str, float] = {}

    def __bool__(self) -> bool:
        """There are some."""
        return bool(self._since)

    def __contains__(self, topic: str) -> bool:
        """It refused, has taken nothing since, and is not one too many."""
        return topic in self._since

    def refuse(self, topics: Iterable[str]) -> None:
        """They took nothing, still or now."""
        now = self._now()
        self._forget(now)
        strange = sum(map(self._is_strange, self._since))
        for topic in topics:
            if topic in self._since:
                continue
            if self._patience_s is not None and self._is_strange(topic):
                if strange >= self._strange_max:
                    continue
                strange += 1
            self._since[topic] = now

    def take(self, topics: Iterable[str]) -> None:
        """They have taken records: should they refuse again, they are waited for again."""
        for topic in topics:
            self._since.pop(topic, None)

    def is_enough(self, topic: str) -> bool:
        """Of one that refused: it has been waited for as long as that is done."""
        if self._patience_s is None:
            return False
        since = self._since.get(topic)
        return since is None or self._now() - since >= self._patience_s

    def _forget(self, now: float) -> None:
        if self._patience_s is None:
            return
        kept_s = _SHARE * self._strange_max * self._patience_s
        for topic in [each for each, since in self._since.items() if now - since > kept_s and self._is_strange(each)]:
            del self._since[topic]
