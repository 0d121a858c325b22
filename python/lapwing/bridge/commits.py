"""Commits of offsets: asked for, and waited for with a bound."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from confluent_kafka import KafkaError, KafkaException, TopicPartition

_ANSWER_S = 10.0
"""Then it counts as failed, and whoever asked asks again."""

_Ends = frozenset[tuple[str, int, int]]


class Committer(Protocol):
    """What it needs of Kafka's consumer."""

    def commit(self, *, offsets: list[TopicPartition], asynchronous: Literal[True]) -> None:
        """Asks Kafka."""


class Commits:
    """For the thread that polls the consumer, whose ``on_commit`` is ``answered``.

    librdkafka's own wait for a commit has no end: where Kafka is killed at the wrong moment it does not return for
    minutes, and nobody is told that there is something to wait for.

    Args:
        serve: Polls the consumer for a moment, so that answers come.
        now: The clock, in seconds.
    """

    def __init__(self, serve: Callable[[], None], now: Callable[[], float] = time.monotonic) -> None:
        self._serve = serve
        self._now = now
        self._answers: dict[_Ends, KafkaError | None] = {}

    def answered(self, error: KafkaError | None, partitions: Sequence[TopicPartition]) -> None:
        """Kafka's answer, or librdkafka's: what was wrong with all, or with one."""
        found = error or next((each.error for each in partitions if each.error is not None), None)
        self._answers[_ends(partitions)] = found

    def make(self, consumer: Committer, offsets: list[TopicPartition]) -> KafkaError | None:
        """Commits; gives what was wrong. The late answer to an earlier try at the same offsets counts as well."""
        self._answers.clear()
        try:
            consumer.commit(offsets=offsets, asynchronous=True)
        except KafkaException as failure:
            error: KafkaError = failure.args[0]
            return error
        wanted, until = _ends(offsets), self._now() + _ANSWER_S
        while wanted not in self._answers:
            if self._now() >= until:
                return KafkaError(KafkaError._TIMED_OUT, f"Commit failed: no answer within {_ANSWER_S:g} s")
            self._serve()
        return self._answers[wanted]


def _ends(partitions: Sequence[TopicPartition]) -> _Ends:
    return frozenset((each.topic, each.partition, each.offset) for each in partitions)
