"""When does whoever waits for news look? Kafka's client is played here; tests/pipeline/test_rests.py has a real one."""

from __future__ import annotations

from unittest.mock import MagicMock

import pytest
from py4j.protocol import Py4JError  # type: ignore[import-untyped]

from lapwing.pipeline.source.kafka_news import KafkaNews


def played(known: int | None, *, comes: bool = False) -> tuple[KafkaNews, MagicMock]:
    """Waits for news of a topic with two partitions; the client knows of so many."""
    jvm = MagicMock()
    consumer = jvm.org.apache.kafka.clients.consumer.KafkaConsumer.return_value
    consumer.poll.return_value.isEmpty.return_value = not comes
    consumer.partitionsFor.return_value = None if known is None else MagicMock(size=lambda: known)
    jvm.org.apache.kafka.common.TopicPartition.side_effect = lambda topic, partition: (topic, partition)
    return KafkaNews(jvm, {}, "t", {0: 5, 1: 7}, 30.0), consumer


@pytest.mark.parametrize(("known", "comes"), [(2, False), (0, True), (None, True), (3, True)])
def test_a_topic_that_is_gone_or_has_grown_is_news(known: int | None, comes: bool) -> None:
    assert played(known)[0].come(1.0) is comes


def test_a_record_is_news() -> None:
    assert played(2, comes=True)[0].come(1.0)


def test_what_kafka_refuses_is_to_be_looked_at_and_one_that_is_away_is_not() -> None:
    news, consumer = played(2)
    consumer.poll.side_effect = Py4JError("org.apache.kafka.clients.consumer.OffsetOutOfRangeException: 5")
    assert news.come(1.0)
    news, consumer = played(2)
    consumer.partitionsFor.side_effect = Py4JError("org.apache.kafka.common.errors.TimeoutException: Timed out")
    assert not news.come(1.0)
