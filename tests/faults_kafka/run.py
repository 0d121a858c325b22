"""One run: load, faults, and the count in the end."""

from __future__ import annotations

import random
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from confluent_kafka import Consumer

from lapwing.lab.kafka import LocalKafka

from .load import Load
from .parts import TOPIC, BrokerPart, Members

_DEVICES = 20
_MEMBERS = 2
_PARTITIONS = 4
_CATCH_UP_S = 180.0


@dataclass
class Outcome:
    """What a run has shown."""

    seconds: float = 0.0
    faults: Counter[str] = field(default_factory=Counter)
    acknowledged: int = 0
    records: int = 0
    lost: int = 0
    repeated_by_bridge: int = 0
    """Records whose message id was there before: consumers drop them by it."""
    repeated_by_publishers: int = 0
    """Messages that the broker took in twice, because it was killed before its acknowledgement arrived."""


class Run:
    """Everybody, and the clock of the faults."""

    def __init__(self, seed: int, folder: Path, per_s: int) -> None:
        self._random = random.Random(seed)
        folder.mkdir(parents=True, exist_ok=True)
        self._kafka = LocalKafka(folder / "kafka")
        self._broker = BrokerPart(folder)
        self._members = Members(_MEMBERS, self._broker.url, self._kafka.bootstrap, folder)
        self._load = Load(self._broker.url, _DEVICES, per_s)
        self.outcome = Outcome()

    def go(self, seconds: float) -> Outcome:
        """Runs for so long, and counts."""
        self._kafka.start()
        self._kafka.create_topic(TOPIC, partitions=_PARTITIONS)
        try:
            self._broker.start()
            self._broker.wait_until_ready()
            self._members.start()
            self._load.start()
            self._faults(seconds)
            self._load.end(_CATCH_UP_S)
            self._count()
            return self.outcome
        finally:
            self._members.end()
            self._broker.kill()
            self._kafka.stop()

    def _faults(self, seconds: float) -> None:
        began = time.monotonic()
        kinds = (
            self._kafka_killed,
            self._kafka_paused,
            self._kafka_restarted,
            self._member_killed,
            self._broker_killed,
        )
        while (left_s := seconds - (time.monotonic() - began)) > 0:
            time.sleep(min(left_s, self._random.uniform(1.0, 4.0)))
            fault = self._random.choice(kinds)
            self.outcome.faults[fault.__name__.strip("_")] += 1
            fault()
        self.outcome.seconds = time.monotonic() - began

    def _kafka_killed(self) -> None:
        self._kafka.kill()
        self._member_may_die()
        time.sleep(self._random.uniform(0.0, 3.0))
        self._kafka.start()

    def _kafka_paused(self) -> None:
        self._kafka.pause()
        self._member_may_die()
        time.sleep(self._random.uniform(0.5, 6.0))
        self._kafka.resume()

    def _kafka_restarted(self) -> None:
        self._kafka.stop()
        self._kafka.start()

    def _member_killed(self) -> None:
        self._members.kill(self._random.randrange(_MEMBERS))

    def _broker_killed(self) -> None:
        self._broker.kill()
        self._member_may_die()
        time.sleep(self._random.uniform(0.0, 2.0))
        self._broker.start()
        self._broker.wait_until_ready()

    def _member_may_die(self) -> None:
        """Two things go wrong at once, now and then."""
        if self._random.random() < 0.3:
            self._member_killed()
            self.outcome.faults["member_killed_meanwhile"] += 1

    def _count(self) -> None:
        """Reads the topic until every acknowledged message is there, or nothing more comes."""
        missing = [set(range(count)) for count in self._load.acknowledged]
        left = self._load.total
        seen: set[bytes] = set()
        pairs: set[bytes] = set()
        consumer = Consumer(
            {"bootstrap.servers": self._kafka.bootstrap, "group.id": "count", "auto.offset.reset": "earliest"}
            | {"enable.auto.commit": False, "log_level": 0}
        )
        consumer.subscribe([TOPIC])
        outcome = self.outcome
        outcome.acknowledged = left
        quiet_since = time.monotonic()
        while (left or time.monotonic() - quiet_since < 3.0) and time.monotonic() - quiet_since < _CATCH_UP_S:
            for record in consumer.consume(10_000, 0.5):
                if record.error() is not None:
                    continue
                quiet_since = time.monotonic()
                outcome.records += 1
                device, number, _ = record.value().split(b":")
                message_id = dict(record.headers() or [])["lapwing-message-id"]
                pair = device + b":" + number
                if message_id in seen:
                    outcome.repeated_by_bridge += 1
                elif pair in pairs:
                    outcome.repeated_by_publishers += 1
                seen.add(message_id)
                pairs.add(pair)
                if int(number) in missing[int(device)]:
                    missing[int(device)].remove(int(number))
                    left -= 1
        consumer.close()
        outcome.lost = left
