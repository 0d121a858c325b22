"""The topics that were seen, for completion."""

from __future__ import annotations

from threading import Lock

_SEEN_MAX = 1_000


class SeenTopics:
    """The topics seen lately, at most a thousand; any thread may add."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._topics: dict[str, None] = {}

    def add(self, topic: str) -> None:
        """Makes ``topic`` the newest; the oldest goes when there are too many."""
        with self._lock:
            self._topics.pop(topic, None)
            self._topics[topic] = None
            if len(self._topics) > _SEEN_MAX:
                del self._topics[next(iter(self._topics))]

    def all(self) -> list[str]:
        """In alphabetical order."""
        with self._lock:
            return sorted(self._topics)
