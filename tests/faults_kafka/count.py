"""The count in the end: the topic against what was acknowledged, and the tables against the topic."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path

from confluent_kafka import Consumer, Message

from lapwing.pipeline.jobs.coverage import run_coverage
from lapwing.pipeline.report.tables import rows

from .load import name_of
from .outcome import Outcome

_QUIET_S = 15.0
"""Nothing more comes when everything is there, and nothing came for so long: members still run, and may write again
what one had in hand that was killed, or that the machine left waiting."""


class TopicCount:
    """Which acknowledged readings are in a topic, and which came more than once."""

    def __init__(self, acknowledged: Sequence[int]) -> None:
        self._ids: set[bytes] = set()
        self._missing = {(name_of(device), n) for device, count in enumerate(acknowledged) for n in range(count)}

    @property
    def left(self) -> int:
        """Acknowledged, and not seen yet."""
        return len(self._missing)

    def read(self, bootstrap: str, topic: str, outcome: Outcome, timeout_s: float) -> None:
        """Reads until everything is there and nothing more comes, or nothing came for so long."""
        consumer = Consumer(
            {"bootstrap.servers": bootstrap, "group.id": "count", "auto.offset.reset": "earliest"}
            | {"enable.auto.commit": False, "log_level": 0}
        )
        consumer.subscribe([topic])
        quiet_since = time.monotonic()
        while time.monotonic() - quiet_since < (timeout_s if self.left else _QUIET_S):
            for record in consumer.consume(10_000, 0.5):
                if record.error() is None:
                    quiet_since = time.monotonic()
                    self._see(record, outcome)
        consumer.close()

    def _see(self, record: Message, outcome: Outcome) -> None:
        value = json.loads(record.value())
        reading = (value["device"], value["serial"])
        message_id = dict(record.headers() or [])["lapwing-message-id"]
        outcome.records += 1
        if message_id in self._ids:
            outcome.repeated_by_bridge += 1
        elif reading not in self._missing:
            outcome.repeated_by_publishers += 1
        self._ids.add(message_id)
        self._missing.discard(reading)


def count_tables(source: str, out: Path, outcome: Outcome) -> list[str]:
    """Runs the job `coverage` over the topic; what its tables do not say as they must."""
    result = run_coverage(source, out, draw=False)
    figures = (
        ("readings", result.readings, outcome.acknowledged),
        ("rows of the table readings", rows(out, "readings"), outcome.acknowledged),
        ("repeated", result.repeated, outcome.repeated),
        ("lost", result.lost, 0),
        ("quarantined", result.quarantined, 0),
    )
    return [f"{name}: {found:,} in the tables, not {wanted:,}" for name, found, wanted in figures if found != wanted]
