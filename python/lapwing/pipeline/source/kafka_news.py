"""Waits for what comes to a topic while nobody reads it, with a request that Kafka holds back until then."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from py4j.protocol import Py4JError  # type: ignore[import-untyped]

_HELD_MS_MAX = 10_000
"""A request is held back by Kafka for so long, and for at most half of the client's own patience."""
_TIMED_OUT = "org.apache.kafka.common.errors.TimeoutException"
_BYTES = "org.apache.kafka.common.serialization.ByteArrayDeserializer"


class KafkaNews:
    """Waits behind ``ends``; commits nothing, and belongs to no group.

    Args:
        jvm: Has the client.
        settings: Of the client; may hold secrets.
        topic: The topic.
        ends: Per partition the offset that the next record gets.
        timeout_s: How long the client waits for an answer.
    """

    def __init__(self, jvm: Any, settings: Mapping[str, str], topic: str, ends: Mapping[int, int], timeout_s: float):
        own = {
            "key.deserializer": _BYTES,
            "value.deserializer": _BYTES,
            "enable.auto.commit": "false",
            "auto.offset.reset": "none",
            "fetch.max.wait.ms": str(max(1, min(_HELD_MS_MAX, round(timeout_s * 500)))),
            # That something came is all it is to tell.
            "fetch.max.bytes": "1",
            "max.partition.fetch.bytes": "1",
            "max.poll.records": "1",
        }
        told, partitions = jvm.java.util.HashMap(), jvm.java.util.ArrayList()
        for name, value in {**settings, **own}.items():
            told.put(name, value)
        places = {jvm.org.apache.kafka.common.TopicPartition(topic, p): offset for p, offset in ends.items()}
        for place in places:
            partitions.add(place)
        self._jvm, self._topic, self._partitions = jvm, topic, len(places)
        self._consumer = jvm.org.apache.kafka.clients.consumer.KafkaConsumer(told)
        self._consumer.assign(partitions)
        for place, offset in places.items():
            self._consumer.seek(place, offset)

    def come(self, timeout_s: float) -> bool:
        """Waits at most so long. True as well where Kafka refuses: the query meets the same, and says it."""
        try:
            waited = self._jvm.java.time.Duration.ofMillis(round(timeout_s * 1000))
            return not self._consumer.poll(waited).isEmpty() or self._is_another(waited)
        except Py4JError as error:
            # A Kafka that is down may be back before anything comes.
            return _TIMED_OUT not in str(error)

    def _is_another(self, waited: Any) -> bool:
        """The topic is gone, or has got partitions. From the client's memory: it asks where it knows of none."""
        known = self._consumer.partitionsFor(self._topic, waited)
        return (0 if known is None else known.size()) != self._partitions

    def close(self) -> None:
        """Ends its connections."""
        with suppress(Py4JError, OSError):  # then the JVM has ended
            self._consumer.close()
