"""A lane from MQTT to Kafka: one rule, for one member."""

from __future__ import annotations

import time

from lapwing.bridge.counts import Counts
from lapwing.bridge.mapping import Mapping, taken_in_us
from lapwing.bridge.mqtt_side import connect_options
from lapwing.bridge.sink import KafkaSink, Sink
from lapwing.bridge.stopping import Abandoned, Say, Stopping, Waiting
from lapwing.bridge.watch import Watch
from lapwing.client import Consumer, Delivery
from lapwing.config.bridge import BridgeSection, ToKafka
from lapwing.config.bridge_text import places


class ToKafkaLane:
    """Takes batches as a member of the group, and acknowledges each when Kafka has it.

    Args:
        bridge: The configuration.
        rule: The rule it carries.
        member: Which member of this process, from 0.
        stopping: Tells when the bridge ends.
        say: Takes lines for the operator.
        sink: Where to instead of Kafka.

    Raises:
        ConfigError: a setting cannot be.
    """

    def __init__(
        self, bridge: BridgeSection, rule: ToKafka, member: int, stopping: Stopping, say: Say, sink: Sink | None = None
    ) -> None:
        mqtt = bridge.mqtt
        self.name = f"{rule.name}-{member}"
        self.counts = Counts(rule.name, "to_kafka")
        self._linger_ms = float(mqtt.linger)
        waiting = Waiting(f"rule {rule.name}", say)
        # A topic that the rule itself names is the operator's to make; another was a device's to choose.
        wait_ms = bridge.kafka.topic_wait if places(rule.topic) else None
        wait_s = None if wait_ms is None else wait_ms / 1000
        self._mapping = Mapping(
            rule,
            topics_max=bridge.kafka.topics_max,
            record_bytes_max=bridge.kafka.record_bytes_max,
        )
        is_strange = self._mapping.is_strange
        self._sink = sink or KafkaSink(
            bridge.kafka, stopping, waiting, self.counts, topic_wait_s=wait_s, is_strange=is_strange
        )
        self._consumer = Consumer(
            mqtt.url,
            rule.filter,
            group=mqtt.group,
            batch=mqtt.batch,
            high=2 * mqtt.batch,
            high_bytes=mqtt.waiting_bytes_max,
            envelope=mqtt.envelope,
            **connect_options(mqtt, self.name),
        )
        self._watch = Watch(rule.name, mqtt.url, lambda: self._consumer.counters, say, asks=mqtt.envelope)
        self.counts.waiting_s = lambda: max(waiting.since_s, self._watch.away_s)
        self.counts.is_connected = lambda: self._watch.is_connected
        self.counts.late = lambda: self._consumer.counters.late
        self.counts.dropped = lambda: self._consumer.counters.dropped
        self.counts.queued = lambda: self._consumer.counters.waiting

    def connect(self) -> None:
        """Connects to the broker and joins the group; errors are those of `Consumer`."""
        self._consumer.connect()
        self.look()

    def look(self) -> None:
        """Says whether the broker is there, when that has changed."""
        self._watch.look()

    def run(self) -> None:
        """Carries until `close`; errors are those of `Consumer`."""
        try:
            for batch in self._consumer.batches(wait_ms=self._linger_ms):
                self._carry(batch)
        except Abandoned:
            # Not finished: the broker gives the batch to another member, or to us when we are back.
            self._consumer.abort()
        except BaseException:
            self._consumer.abort()
            raise
        finally:
            self._sink.close()

    def close(self, timeout_s: float) -> None:
        """Takes in no more and lets `run` finish what is here; what is not finished then stays the broker's."""
        self._consumer.close(timeout_s)

    def _carry(self, batch: list[Delivery]) -> None:
        told = self._consumer.counters.is_told
        self.counts.begins(len(batch), taken_in_us(batch[0], told=told))
        items = self._mapping.records(batch, time.time_ns() // 1000, told=told)
        given_up = self._sink.carry(items, self._consumer.alive)
        self.counts.strange_topics += self._mapping.settle(given_up)
        self.counts.carried(len(batch), sum([len(message.payload) for message in batch]))
