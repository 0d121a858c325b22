"""A record for Kafka, and one that can never be what it should."""

from __future__ import annotations

from typing import NamedTuple

from lapwing.contracts.kafka_record import Reason

Headers = list[tuple[str, str | bytes | None]]
"""In order; names may repeat. Null is what another producer may write; the bridge does not."""


class Record(NamedTuple):
    """A record for Kafka."""

    topic: str
    key: str | bytes | None
    value: bytes | None
    headers: Headers


class DeadLetter(NamedTuple):
    """A record that can never be what it should, and why."""

    record: Record
    reason: Reason
    words: str
