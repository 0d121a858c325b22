"""Kafka as a part: ``LocalKafka``, with the topics that the bridge needs."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from lapwing.errors import LapwingError
from lapwing.lab.crowdsourcing.part import Role
from lapwing.lab.crowdsourcing.site import DEAD_LETTERS, TOPIC, Site

if TYPE_CHECKING:
    from lapwing.lab.kafka import LocalKafka

_READY_S = 90.0
_ASK_S = 10.0


class KafkaPart:
    """One Kafka server in KRaft mode, with a topic for readings that says when its log took each record."""

    name = "kafka"

    def __init__(self, site: Site) -> None:
        self._site = site

    def start(self, folder: Path) -> RunningKafka:
        """See `lapwing.lab.crowdsourcing.part.Startable`."""
        kafka = self._site.kafka
        running = RunningKafka(kafka, folder / "kafka.log")
        try:
            kafka.start(_READY_S)
            by_log = {"message.timestamp.type": "LogAppendTime"}
            kafka.create_topic(TOPIC, self._site.partitions, by_log)
            kafka.create_topic(DEAD_LETTERS)
        except BaseException:
            running.stop(hurry=True)
            raise
        return running


class RunningKafka:
    """See `lapwing.lab.crowdsourcing.part.Standing`."""

    name = "kafka"
    role: Role = "kafka"
    metrics = ""

    def __init__(self, kafka: LocalKafka, kept_log: Path) -> None:
        self._kafka = kafka
        self._kept_log = kept_log
        self.log = kafka.log

    @property
    def pid(self) -> int:
        """Its process; 0 once it is gone."""
        return self._kafka.pid or 0

    def ended(self) -> int | None:
        """See `Standing`."""
        return self._kafka.exit_code

    def tally(self) -> Mapping[str, int]:
        """``records`` in the topic of readings, and ``dead_letters``."""
        return {"records": _records(self._kafka, TOPIC), "dead_letters": _records(self._kafka, DEAD_LETTERS)}

    def stop(self, *, hurry: bool = False) -> int:
        """See `Standing`; keeps its log, for its folder is removed."""
        if hurry:
            self._kafka.kill()
        else:
            self._kafka.stop()
        if self._kafka.log.exists():
            self._kept_log.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self._kafka.log, self._kept_log)
        return self._kafka.exit_code or 0


def _records(kafka: LocalKafka, topic: str) -> int:
    """Records that a topic has ever taken: the sum of its partitions' next offsets."""
    from confluent_kafka import Consumer, KafkaException, TopicPartition

    consumer = Consumer({"bootstrap.servers": kafka.bootstrap, "group.id": "lab", "log_level": 0})
    try:
        partitions = consumer.list_topics(topic, timeout=_ASK_S).topics[topic].partitions
        places = [TopicPartition(topic, number) for number in partitions]
        ends = [consumer.get_watermark_offsets(place, timeout=_ASK_S) for place in places]
    except KafkaException as failure:
        raise LapwingError(f"Kafka does not say how much it has: {failure.args[0].str()}", where=topic) from failure
    finally:
        consumer.close()
    if None in ends:
        raise LapwingError(f"Kafka does not say how much it has within {_ASK_S:g} s", where=topic)
    return sum(end for _first, end in ends)
