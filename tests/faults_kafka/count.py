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

_QUIET_S = 3.0
"""Nothing more comes when everything is there, and nothing came for so long."""


class TopicCount:
    """Which acknowledged readings are in a topic, and which came more than once."""

    def __init__(self, acknowledged: Sequence[int]) -> None:
        self._missing = {name_of(device): set(range(count)) for device, count in enumerate(acknowledged)}
        self._ids: set[bytes] = set()
        self._readings: set[tuple[str, int]] = set()
        self.left = sum(acknowledged)
        """Acknowledged, and not seen yet."""

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
        reading = json.loads(record.value())
        device, serial = str(reading["device"]), int(reading["serial"])
        message_id = dict(record.headers() or [])["lapwing-message-id"]
        outcome.records += 1
        if message_id in self._ids:
            outcome.repeated_by_bridge += 1
        elif (device, serial) in self._readings:
            outcome.repeated_by_publishers += 1
        self._ids.add(message_id)
        self._readings.add((device, serial))
        if serial in self._missing[device]:
            self._missing[device].remove(serial)
            self.left -= 1


def count_tables(source: str, out: Path, outcome: Outcome) -> list[str]:
    """Runs the job `coverage` over the topic; what its tables do not say as they must."""
    result = run_coverage(source, out, draw=False)
    expected = {
        "readings": outcome.acknowledged,
        "rows of the table readings": outcome.acknowledged,
        "repeated": outcome.repeated,
        "lost": 0,
        "quarantined": 0,
    }
    found = {
        "readings": result.readings,
        "rows of the table readings": rows(out, "readings"),
        "repeated": result.repeated,
        "lost": result.lost,
        "quarantined": result.quarantined,
    }
    return [
        f"{name}: {found[name]:,} in the tables, not {number:,}"
        for name, number in expected.items()
        if number != found[name]
    ]
