"""The way of a demo through Kafka: a group of bridge members between the broker and a Kafka server of our own."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lapwing.bridge.run import Bridge
from lapwing.broker import Broker
from lapwing.config.bridge import BridgeSection
from lapwing.errors import TimedOutError
from lapwing.lab.demo_screen import Screen
from lapwing.lab.kafka import LocalKafka
from lapwing.pipeline.jobs.coverage import CoverageJob
from lapwing.pipeline.jobs.progress import BatchProgress

GROUP = "bridge"
MEMBERS = 2
_LOOK_S = 0.2
_NOW = threading.Event()
_NOW.set()


@dataclass(frozen=True, slots=True)
class KafkaWay:
    """A Kafka topic that bridge members fill."""

    source: str
    """For the job."""
    bridge: Bridge

    def wait_tabulated(self, arrivals: Arrivals, messages: int, job: CoverageJob, timeout_s: float) -> None:
        """Until so many messages have come through broker, bridge and Kafka into the tables.

        Raises:
            TimedOutError: They have not, after ``timeout_s``.
            LapwingError: A member or the job has failed.
        """
        deadline = time.monotonic() + timeout_s
        while not arrivals.reached(messages, _LOOK_S):
            self.bridge.wait(0.0)
            job.wait(_NOW)
            if time.monotonic() > deadline:
                what = f"{messages - arrivals.messages:,} messages have not come through Kafka in {timeout_s:g} s"
                raise TimedOutError(what, where=self.source)


class Arrivals:
    """Counts the messages that the tables have, repeats left out; batches report from a thread of Spark's."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self.messages = 0

    def add(self, batch: BatchProgress) -> None:
        """One batch more."""
        with self._changed:
            self.messages += batch.readings + batch.quarantined
            self._changed.notify_all()

    def reached(self, messages: int, timeout_s: float) -> bool:
        """Waits so long at most; whether there are so many."""
        with self._changed:
            return self._changed.wait_for(lambda: self.messages >= messages, timeout_s)


@contextmanager
def kafka_server(folder: Path, topic: str, partitions: int, screen: Screen) -> Iterator[LocalKafka]:
    """A Kafka server with one topic, for the time of a demo."""
    with screen.phase("kafka", "starting Kafka"):
        server = LocalKafka(folder).start()
    try:
        server.create_topic(topic, partitions)
        yield server
    finally:
        server.stop()


@contextmanager
def bridged(broker: Broker, kafka: LocalKafka, topic: str, topic_filter: str, screen: Screen) -> Iterator[KafkaWay]:
    """Members that carry what comes under ``topic_filter`` to ``topic``; the broker keeps it until they have."""
    settings = {
        "members": MEMBERS,
        "metrics": "off",
        "mqtt": {"url": broker.url, "group": GROUP},
        "kafka": {"bootstrap": [kafka.bootstrap]},
        "to_kafka": [{"name": topic, "filter": topic_filter, "topic": topic}],
    }
    bridge = Bridge(BridgeSection.model_validate(settings), screen.note)
    with screen.phase("bridge", "starting the bridge"):
        bridge.start()
    try:
        yield KafkaWay(f"kafka://{kafka.bootstrap}/{topic}", bridge)
    finally:
        bridge.stop()
