"""A lane from Kafka to MQTT: one rule, for one member of a Kafka consumer group."""

from __future__ import annotations

from collections.abc import Sequence

from confluent_kafka import Consumer as KafkaConsumer
from confluent_kafka import KafkaError, KafkaException, Message, TopicPartition

from lapwing.bridge.back_mapping import BackMapping, Publication, Source
from lapwing.bridge.counts import Counts
from lapwing.bridge.kafka_client import made
from lapwing.bridge.kafka_settings import common_settings, consumer_settings, without_secrets
from lapwing.bridge.mapping import DeadLetter, Headers, Record
from lapwing.bridge.mqtt_side import connect_options
from lapwing.bridge.sink import KafkaSink
from lapwing.bridge.stopping import Abandoned, Say, Stopping, Waiting
from lapwing.client import Publisher
from lapwing.config.bridge import BridgeSection, ToMqtt
from lapwing.contracts.kafka_record import KAFKA_POSITION, Reason
from lapwing.errors import LapwingError, TimedOutError

_TURN_S = 0.25
_PATIENCE_S = 2.0
_GATHER_S = 0.002
"""A command must not wait for others: librdkafka has what came with it by then."""
_BATCH = 1_000


class ToMqttLane:
    """Takes batches of records, publishes them, and commits their offsets when the broker has answered for all.

    Arguments and errors are those of `ToKafkaLane`.
    """

    def __init__(self, bridge: BridgeSection, rule: ToMqtt, member: int, stopping: Stopping, say: Say) -> None:
        self.name = f"{rule.name}-{member}"
        self.counts = Counts(rule.name, "to_mqtt")
        self._rule = rule
        self._bridge = bridge
        self._stopping = stopping
        self._waiting = Waiting(f"rule {rule.name}", say)
        self._mapping = BackMapping(rule)
        common = common_settings(bridge.kafka)
        self._settings = consumer_settings(common, rule.group, rule.start)
        self._consumer = made(KafkaConsumer, self._settings, self._on_error)
        self._letters: KafkaSink | None = None
        self._publisher = Publisher(
            bridge.mqtt.url, buffer_messages=2 * _BATCH, **connect_options(bridge.mqtt, self.name)
        )
        self._last_error = ""
        self._aside: list[Message] = []
        self._is_paused = False
        self.counts.waiting_s = lambda: self._waiting.since_s

    def connect(self) -> None:
        """Connects to the broker; Kafka is waited for."""
        self._publisher.connect()

    def run(self) -> None:
        """Carries until the bridge ends."""
        try:
            self._consumer.subscribe([self._rule.topic])
            while not self._stopping.is_draining:
                self._turn()
            self._publisher.close(_PATIENCE_S)
        except Abandoned:
            # Not committed: whoever has the partitions next begins there.
            self._publisher.abort()
        finally:
            self._publisher.abort()
            if self._letters is not None:
                self._letters.close()
            self._consumer.close()

    def close(self, timeout_s: float) -> None:
        """`run` ends by itself when the bridge does."""

    def _turn(self) -> None:
        messages, self._aside = self._aside, []
        if not messages and (first := self._consumer.poll(_TURN_S)) is not None:
            messages = [first, *self._consumer.consume(_BATCH - 1, _GATHER_S)]
        for message in messages:
            if (error := message.error()) is not None:
                self._waiting.begins(f"topic {self._rule.topic!r}: {error.str()}")
        sources = [_source_of(message) for message in messages if message.error() is None]
        if not sources:
            self._look_at_kafka()
            return
        self._last_error = ""
        self._waiting.ends()
        self.counts.begins(len(sources), 0)
        self._publish(sources)
        self._commit(sources)
        self._go_on()
        self.counts.carried(len(sources), sum(len(source.value or b"") for source in sources))
        self.counts.behind = self._behind(sources)

    def _look_at_kafka(self) -> None:
        """Nothing has come: because there is nothing, or because Kafka is away?"""
        if self._last_error:
            self._waiting.begins(self._last_error)
        if not self._waiting.why:
            return
        try:
            known = self._consumer.list_topics(self._rule.topic, timeout=_TURN_S).topics.get(self._rule.topic)
        except KafkaException:
            return
        if known is not None and known.error is None:
            self._last_error = ""
            self._waiting.ends()

    def _publish(self, sources: Sequence[Source]) -> None:
        """Returns when the broker has answered for all of them, or they are dead letters."""
        letters: list[DeadLetter] = []
        ready: list[tuple[Source, Publication]] = []
        for source in sources:
            publication = self._mapping.publication(source)
            if isinstance(publication, str):
                letters.append(_letter(source, Reason.BAD_TOPIC, publication))
            else:
                ready.append((source, publication))
        if self._send(ready) is not None:
            # Somebody among them was refused, and only one by one the broker says who.
            for pair in ready:
                if (words := self._send([pair])) is not None:
                    letters.append(_letter(pair[0], Reason.REFUSED, words))
        if letters:
            self._bury(letters)

    def _send(self, ready: Sequence[tuple[Source, Publication]]) -> str | None:
        """Publishes and waits for every answer; words when the broker refused some."""
        rule = self._rule
        for _, message in ready:
            while True:
                try:
                    self._publisher.publish(
                        message.topic,
                        message.payload,
                        qos=rule.qos,
                        retain=rule.retain,
                        user_properties=message.user_properties,
                        content_type=message.content_type,
                        response_topic=message.response_topic,
                        correlation_data=message.correlation_data,
                        timeout_s=_TURN_S,
                    )
                    break
                except TimedOutError:
                    self._hold("no room for more")
        return self._answered()

    def _answered(self) -> str | None:
        refused: str | None = None
        while True:
            try:
                self._publisher.flush(_TURN_S)
            except TimedOutError:
                self._hold("no answer")
            except LapwingError as failure:
                if self._publisher.counters.phase == "over":
                    raise
                refused = str(failure)
            else:
                return refused

    def _hold(self, what: str) -> None:
        """The broker keeps us waiting."""
        self._stopping.check()
        counters = self._publisher.counters
        if counters.phase == "over":
            # Raises what ended it.
            self._publisher.flush(0.0)
        self._keep_alive()
        self._waiting.begins(f"the broker at {self._bridge.mqtt.url}: {what}, connection {counters.phase}")

    def _go_on(self) -> None:
        """What was waited for is there."""
        self._waiting.ends()
        if self._is_paused:
            self._is_paused = False
            assignment = self._consumer.assignment()
            if assignment:
                self._consumer.resume(assignment)

    def _commit(self, sources: Sequence[Source]) -> None:
        """Offsets of what is done; when partitions have gone to others meanwhile, those repeat it."""
        offsets = [TopicPartition(self._rule.topic, *pair) for pair in _ends(sources).items()]
        while True:
            try:
                self._consumer.commit(offsets=offsets, asynchronous=False)
                return
            except KafkaException as failure:
                error = failure.args[0]
                if error.code() in _LOST:
                    self.counts.retries += len(sources)
                    return
                self._waiting.begins(f"offsets of group {self._rule.group!r}: {error.str()}")
                self._stopping.pause(self._bridge.kafka.retry / 1000, self._keep_alive)

    def _keep_alive(self) -> None:
        """Kafka hears that we are here, and sends nothing more."""
        assignment = self._consumer.assignment()
        if assignment:
            self._consumer.pause(assignment)
            self._is_paused = True
        message = self._consumer.poll(0)
        if message is not None:
            # Of a partition that has just come: it counts as read, so it must not be forgotten.
            self._aside.append(message)

    def _behind(self, sources: Sequence[Source]) -> int:
        behind = 0
        for partition, end in _ends(sources).items():
            marks = self._consumer.get_watermark_offsets(TopicPartition(self._rule.topic, partition), cached=True)
            if marks is not None:
                behind += max(0, marks[1] - end)
        return behind

    def _bury(self, letters: list[DeadLetter]) -> None:
        if self._letters is None:
            self._letters = KafkaSink(self._bridge.kafka, self._stopping, self._waiting, self.counts)
        self._letters.carry(letters, self._keep_alive)

    def _on_error(self, error: KafkaError) -> None:
        self._last_error = without_secrets(error.str(), self._settings)


_LOST = frozenset(
    (
        KafkaError.ILLEGAL_GENERATION,
        KafkaError.UNKNOWN_MEMBER_ID,
        KafkaError.REBALANCE_IN_PROGRESS,
        KafkaError.FENCED_INSTANCE_ID,
        KafkaError._ASSIGNMENT_LOST,
    )
)
"""The partitions are somebody else's by now."""


def _source_of(message: Message) -> Source:
    return Source(
        message.topic() or "",
        message.partition() or 0,
        message.offset() or 0,
        message.key(),
        message.value(),
        list(message.headers() or []),  # type: ignore[arg-type]
    )


def _ends(sources: Sequence[Source]) -> dict[int, int]:
    """By partition the offset behind the last record."""
    return {source.partition: source.offset + 1 for source in sources}


def _letter(source: Source, reason: Reason, words: str) -> DeadLetter:
    headers: Headers = [(KAFKA_POSITION, f"{source.topic}/{source.partition}/{source.offset}"), *source.headers]
    return DeadLetter(Record(source.topic, source.key, source.value, headers), reason, words)
