"""Kafka topics that are not there, and since when."""

from __future__ import annotations

import time
from collections.abc import Iterable


class MissingTopics:
    """Tells when a topic has been waited for long enough.

    Args:
        patience_s: How long is enough, in seconds; None: it never is.
    """

    def __init__(self, patience_s: float | None) -> None:
        self._patience_s = patience_s
        self._since: dict[str, float] = {}

    def __bool__(self) -> bool:
        """Some are missing."""
        return bool(self._since)

    def are_there(self, topics: Iterable[str]) -> None:
        """They have taken records: should they go missing again, they are waited for again."""
        for topic in topics:
            self._since.pop(topic, None)

    def is_enough(self, topic: str) -> bool:
        """The topic is missing, still or now."""
        if self._patience_s is None:
            return False
        now = time.monotonic()
        return now - self._since.setdefault(topic, now) >= self._patience_s
