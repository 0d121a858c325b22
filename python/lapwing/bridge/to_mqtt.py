"""A lane from Kafka to MQTT: one rule, for one member of a Kafka consumer group."""

from __future__ import annotations

from collections.abc import Sequence

from lapwing.bridge.back_mapping import BackMapping, Publication, Source, Unfit
from lapwing.bridge.counts import Counts
from lapwing.bridge.kafka_intake import KafkaIntake
from lapwing.bridge.mqtt_outlet import MqttOutlet
from lapwing.bridge.record import DeadLetter, Headers, Record
from lapwing.bridge.sink import KafkaSink
from lapwing.bridge.stopping import Abandoned, Say, Stopping, Waiting
from lapwing.bridge.watch import Watch
from lapwing.config.bridge import BridgeSection, ToMqtt
from lapwing.contracts.kafka_record import KAFKA_POSITION, Reason

_BATCH = 1_000


class ToMqttLane:
    """Takes batches of records, publishes them, and commits their offsets when the broker has answered for all.

    Arguments and errors are those of `ToKafkaLane`.
    """

    def __init__(self, bridge: BridgeSection, rule: ToMqtt, member: int, stopping: Stopping, say: Say) -> None:
        self.name = f"{rule.name}-{member}"
        self.counts = Counts(rule.name, "to_mqtt")
        self._kafka = bridge.kafka
        self._stopping = stopping
        self._waiting = Waiting(f"rule {rule.name}", say)
        self._mapping = BackMapping(
            rule,
            topic_levels_max=bridge.mqtt.topic_levels_max,
            user_properties_max=bridge.mqtt.user_properties_max,
        )
        self._intake = KafkaIntake(bridge.kafka, rule, stopping, self._waiting, self.counts, say)
        self._outlet = MqttOutlet(
            bridge.mqtt,
            rule,
            self.name,
            buffer_messages=2 * _BATCH,
            stopping=stopping,
            waiting=self._waiting,
            alive=self._intake.hold,
        )
        self._letters: KafkaSink | None = None
        self._watch = Watch(rule.name, bridge.mqtt.url, lambda: self._outlet.counters, say)
        self.counts.waiting_s = lambda: max(self._waiting.since_s, self._watch.away_s)
        self.counts.dropped = lambda: self._outlet.counters.dropped
        self.counts.is_connected = lambda: self._watch.is_connected

    def connect(self) -> None:
        """Connects to the broker; Kafka is waited for."""
        self._outlet.connect()

    def look(self) -> None:
        """Says whether the broker is there, when that has changed."""
        self._watch.look()

    def run(self) -> None:
        """Carries until the bridge ends."""
        try:
            self._intake.open()
            while not self._stopping.is_draining:
                self._turn()
            self._outlet.close()
        except Abandoned:
            # Not committed: whoever has the partitions next begins there.
            self._outlet.abort()
        finally:
            self._outlet.abort()
            if self._letters is not None:
                self._letters.close()
            self._intake.close()

    def close(self, timeout_s: float) -> None:
        """`run` ends by itself when the bridge does."""

    def _turn(self) -> None:
        sources = self._intake.take(_BATCH)
        if not sources:
            return
        self.counts.begins(len(sources), sources[0].taken_in_us)
        self._publish(sources)
        self._intake.commit(sources)
        self._intake.go_on()
        self.counts.carried(len(sources), sum(len(source.value or b"") for source in sources))

    def _publish(self, sources: Sequence[Source]) -> None:
        """Returns when the broker has answered for all of them, or they are dead letters."""
        letters: list[DeadLetter] = []
        senders: list[Source] = []
        publications: list[Publication] = []
        for source in sources:
            made = self._mapping.publication(source)
            if isinstance(made, Unfit):
                letters.append(_letter(source, made.reason, made.words))
            else:
                senders.append(source)
                publications.append(made)
        refusals = self._outlet.send(publications)
        letters += [_letter(senders[place], Reason.REFUSED, words) for place, words in refusals]
        if letters:
            self._bury(letters)

    def _bury(self, letters: list[DeadLetter]) -> None:
        if self._letters is None:
            self._letters = KafkaSink(self._kafka, self._stopping, self._waiting, self.counts)
        self._letters.carry(letters, self._intake.hold)


def _letter(source: Source, reason: Reason, words: str) -> DeadLetter:
    headers: Headers = [(KAFKA_POSITION, f"{source.topic}/{source.partition}/{source.offset}"), *source.headers]
    return DeadLetter(Record(source.topic, source.key, source.value, headers), reason, words)
