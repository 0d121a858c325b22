"""A Kafka topic that is filled like `ServedStream`: the same messages, as a bridge writes them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
from confluent_kafka import KafkaError, Producer
from confluent_kafka.admin import AdminClient
from kafka_server import add_partitions
from shared_kafka import SharedKafka

from lapwing.contracts.kafka_envelope import KafkaEnvelope, headers

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FLUSH_S = 60.0


class KafkaStream:
    """One topic; `url` is what the pipeline is given."""

    def __init__(self, kafka: SharedKafka, name: str, partitions: int = 2) -> None:
        self.name = name
        self.bootstrap = kafka.bootstrap
        # Messages of tests are months old: retention would delete them.
        self._settings = {"retention.ms": "-1"}
        self._kafka, self._partitions = kafka, partitions
        kafka.create_topic(name, partitions, self._settings)
        # Kept: an admin client that goes away takes its answers along.
        self.admin = AdminClient({"bootstrap.servers": kafka.bootstrap, "log_level": 0})
        self._producer = _producer(kafka.bootstrap)
        self._failures: list[KafkaError] = []

    @property
    def url(self) -> str:
        return f"kafka://{self.bootstrap}/{self.name}"

    def append(self, partition: int, batch: pa.Table | pa.RecordBatch) -> None:
        """All of a batch, in order; Kafka has it when this returns."""
        for row in batch.to_pylist():
            envelope = enveloped(row)
            self.produce(
                partition,
                row["payload"],
                key=envelope.client_id,
                headers=headers(envelope),
                timestamp=ms(row["ingress_at"]),
            )
        self.flush()

    def produce(self, partition: int, value: bytes | None, **more: Any) -> None:
        """One record as it is."""
        for _ in self._room():
            try:
                self._producer.produce(self.name, value, partition=partition, on_delivery=self._note, **more)
            except BufferError:
                continue
            break

    def flush(self) -> None:
        """Kafka has all of it when this returns."""
        assert self._producer.flush(FLUSH_S) == 0
        assert not self._failures

    def trim(self, partition: int, first_offset: int) -> None:
        """As retention does it."""
        from confluent_kafka import TopicPartition

        at = TopicPartition(self.name, partition, first_offset)
        for done in self.admin.delete_records([at]).values():
            done.result(FLUSH_S)

    def add_partitions(self, count: int) -> None:
        """Until there are so many."""
        add_partitions(self.admin, self.name, count)
        # The one there is learns of them minutes later.
        self._producer = _producer(self.bootstrap)

    def delete(self) -> None:
        """The topic is gone when this returns; nothing can be appended any more."""
        self.flush()
        # Kafka makes a topic by itself that a producer asks for: ours must be gone before the topic is.
        del self._producer
        for done in self.admin.delete_topics([self.name], operation_timeout=FLUSH_S).values():
            done.result(FLUSH_S)

    def recreate(self) -> None:
        """Deleted and made again, empty."""
        self.delete()
        self._kafka.create_topic(self.name, self._partitions, self._settings)
        self._producer = _producer(self.bootstrap)

    def _note(self, error: KafkaError | None, _message: object) -> None:
        if error is not None:
            self._failures.append(error)

    def _room(self) -> Iterator[None]:
        """Until the producer's queue takes a record."""
        while True:
            yield
            self._producer.poll(0.1)


def _producer(bootstrap: str) -> Producer:
    return Producer({"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 5, "log_level": 0})


def enveloped(row: dict[str, Any]) -> KafkaEnvelope:
    """What a bridge says of a row of a stream; its clock is the stream's `appended_at`, so that both sources agree."""
    return KafkaEnvelope(
        topic=row["topic"],
        client_id=row["client_id"],
        qos=row["qos"],
        retain=row["retain"],
        user_properties=tuple((each["name"], each["value"]) for each in row["user_properties"]),
        ingress_at_us=us(row["ingress_at"]),
        forwarded_at_us=us(row["appended_at"]),
    )


def us(at: datetime | None) -> int | None:
    if at is None:
        return None
    since = at - EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def ms(at: datetime) -> int:
    return (us(at) or 0) // 1000
