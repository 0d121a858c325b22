"""The fixture of the one Kafka server that all tests of a run share, and what they ask it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import pytest
import xdist
from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions
from shared_kafka import SharedKafka, shared_kafka

from lapwing.contracts.kafka_record import MESSAGE_ID, PART

TIMEOUT_S = 60


@pytest.fixture(scope="session")
def kafka(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedKafka]:
    """A server that nobody may stop: tests that do so start their own. Topics are each test's own."""
    folder = tmp_path_factory.getbasetemp()
    # A worker of pytest-xdist has a folder in that of the run.
    with shared_kafka((folder.parent if xdist.is_xdist_worker(request) else folder) / "kafka") as running:
        yield running


def open_topic(bootstrap: str, topic: str) -> Consumer:
    """A consumer that begins at the beginning."""
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": f"test-{time.monotonic_ns()}", "auto.offset.reset": "earliest"}
        | {"enable.auto.commit": False, "log_level": 0, "topic.metadata.refresh.interval.ms": 500}
    )
    consumer.subscribe([topic])
    return consumer


def read_topic(
    bootstrap: str, topic: str, count: int, *, timeout_s: float = TIMEOUT_S, with_repeats: bool = False
) -> list[Message]:
    """The first ``count`` records of a topic, from its beginning; fewer when no more come in time.

    What a bridge has carried twice counts once, as for any consumer: the broker may take a member that the machine left
    waiting for a second for stalled, and give its batch out again. ``with_repeats`` is for who asks about just that.
    """
    consumer = open_topic(bootstrap, topic)
    records: list[Message] = []
    seen: set[tuple[bytes, bytes]] = set()
    deadline = time.monotonic() + timeout_s
    try:
        while len(records) < count and time.monotonic() < deadline:
            got = consumer.consume(max(1, count - len(records)), 0.2)
            good = [message for message in got if message.error() is None]
            records += good if with_repeats else without_repeats(good, seen)
    finally:
        consumer.close()
    return records


def without_repeats(records: Sequence[Message], seen: set[tuple[bytes, bytes]]) -> list[Message]:
    """The records whose message came for the first time, and those that name none; ``seen`` has what came before."""
    firsts = []
    for record in records:
        headers = dict(reversed(record.headers() or []))
        message_id = headers.get(MESSAGE_ID)
        # Of a dead letter each part has the id of the whole.
        name = (bytes(message_id or b""), bytes(headers.get(PART) or b""))
        if message_id is None or name not in seen:
            firsts.append(record)
        seen.add(name)
    return firsts


def count_records(bootstrap: str, topic: str) -> int:
    """How many records lie in a topic, repeats too."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "nobody", "log_level": 0})
    try:
        partitions = consumer.list_topics(topic, timeout=TIMEOUT_S).topics[topic].partitions
        marks = [consumer.get_watermark_offsets(TopicPartition(topic, each), timeout=TIMEOUT_S) for each in partitions]
        return sum(high - low for low, high in marks)
    finally:
        consumer.close()


def headers_of(record: Message) -> dict[str, str]:
    """The headers as text; of a name that repeats, the first."""
    return {name: bytes(value or b"").decode() for name, value in reversed(record.headers() or [])}


def write_topic(bootstrap: str, topic: str, records: Sequence[dict[str, object]]) -> None:
    """Produces them, and returns when Kafka has them."""
    producer = Producer({"bootstrap.servers": bootstrap, "log_level": 0})
    failures: list[KafkaError] = []

    def note(error: KafkaError | None, _message: object) -> None:
        if error is not None:
            failures.append(error)

    for record in records:
        producer.produce(topic, **record, on_delivery=note)
    assert producer.flush(TIMEOUT_S) == 0
    assert not failures


def add_partitions(admin: AdminClient, topic: str, count: int) -> None:
    """Until there are so many, and Kafka says so to whoever asks: its answer to the request may come before that."""
    admin.create_partitions([NewPartitions(topic, count)])[topic].result(TIMEOUT_S)
    deadline = time.monotonic() + TIMEOUT_S
    while len(admin.list_topics(topic, timeout=TIMEOUT_S).topics[topic].partitions) < count:
        assert time.monotonic() < deadline, f"{topic} has not {count} partitions"
