"""One Kafka server for all tests of a run that want one, and what they ask it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import pytest
from confluent_kafka import Consumer, Message, Producer

from lapwing.lab.kafka import LocalKafka

TIMEOUT_S = 60


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalKafka]:
    """A server that nobody may stop: tests that do so start their own."""
    with LocalKafka(tmp_path_factory.mktemp("kafka")) as running:
        yield running


def open_topic(bootstrap: str, topic: str) -> Consumer:
    """A consumer that begins at the beginning."""
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": f"test-{time.monotonic_ns()}", "auto.offset.reset": "earliest"}
        | {"enable.auto.commit": False, "log_level": 0, "topic.metadata.refresh.interval.ms": 500}
    )
    consumer.subscribe([topic])
    return consumer


def read_topic(bootstrap: str, topic: str, count: int, *, timeout_s: float = TIMEOUT_S) -> list[Message]:
    """The first ``count`` records of a topic, from its beginning; fewer when no more come in time."""
    consumer = open_topic(bootstrap, topic)
    records: list[Message] = []
    deadline = time.monotonic() + timeout_s
    try:
        while len(records) < count and time.monotonic() < deadline:
            got = consumer.consume(max(1, count - len(records)), 0.2)
            records += [message for message in got if message.error() is None]
    finally:
        consumer.close()
    return records


def headers_of(record: Message) -> dict[str, str]:
    """The headers as text; of a name that repeats, the first."""
    return {name: bytes(value or b"").decode() for name, value in reversed(record.headers() or [])}


def write_topic(bootstrap: str, topic: str, records: Sequence[dict[str, object]]) -> None:
    """Produces them, and returns when Kafka has them."""
    producer = Producer({"bootstrap.servers": bootstrap, "log_level": 0})
    for record in records:
        producer.produce(topic, **record)
    assert producer.flush(TIMEOUT_S) == 0
