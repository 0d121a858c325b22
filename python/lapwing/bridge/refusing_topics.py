"""Kafka topics that take no records: missing, or not ours to write; and since when."""

from __future__ import annotations

import time
from collections.abc import Iterable


class RefusingTopics:
    """Tells which topics refused what they were sent last, and when one has been waited for long enough.

    Args:
        patience_s: How long is enough, in seconds; None: it never is.
    """

    def __init__(self, patience_s: float | None) -> None:
        self._patience_s = patience_s
        self._since: dict[str, float] = {}

    def __bool__(self) -> bool:
        """There are some."""
        return bool(self._since)

    def __contains__(self, topic: str) -> bool:
        """It refused, and has taken nothing since."""
        return topic in self._since

    def refuse(self, topics: Iterable[str]) -> None:
        """They took nothing, still or now."""
        now = time.monotonic()
        for topic in topics:
            self._since.setdefault(topic, now)

    def take(self, topics: Iterable[str]) -> None:
        """They have taken records: should they refuse again, they are waited for again."""
        for topic in topics:
            self._since.pop(topic, None)

    def is_enough(self, topic: str) -> bool:
        """The topic has refused for as long as it is waited for."""
        if self._patience_s is None or topic not in self._since:
            return False
        return time.monotonic() - self._since[topic] >= self._patience_s
