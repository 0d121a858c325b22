"""Records that may be too large for their Kafka topic: how large was too large, as far as Kafka has said so."""

from __future__ import annotations

from collections.abc import Iterable

from lapwing.bridge.record import Record

_TOPICS_MAX = 1_000
"""Topics whose bound is remembered; then all are forgotten and found again."""


class LargeRecords:
    """What Kafka refused for its size, by topic: the next record like it goes alone, and spoils no batch."""

    def __init__(self) -> None:
        self._refused_bytes: dict[str, int] = {}

    def __bool__(self) -> bool:
        """There are some."""
        return bool(self._refused_bytes)

    def is_large(self, record: Record) -> bool:
        """One of this size, or a smaller one, was refused by itself."""
        refused_bytes = self._refused_bytes.get(record.topic)
        return refused_bytes is not None and size(record) >= refused_bytes

    def refuse(self, record: Record) -> None:
        """It was too large by itself."""
        if len(self._refused_bytes) >= _TOPICS_MAX:
            self._refused_bytes.clear()
        known = self._refused_bytes.get(record.topic, size(record))
        self._refused_bytes[record.topic] = min(known, size(record))

    def take(self, records: Iterable[Record]) -> None:
        """They were taken: where one of them is as large as one that was refused, the topic takes more by now."""
        for record in records:
            if self.is_large(record):
                del self._refused_bytes[record.topic]


def size(record: Record) -> int:
    """What its value, key and headers have, to compare records by: of text characters, which cost less than its bytes.

    By the value alone a device whose small message has headers beyond the bound would make everybody else's large.
    """
    headers = sum([len(name) + len(value or "") for name, value in record.headers])
    return len(record.value or b"") + len(record.key or b"") + headers
