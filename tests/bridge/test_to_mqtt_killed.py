"""A bridge that is killed on its way to MQTT: is nothing missing, and is what comes twice known by its position?"""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from commands import RunningBroker
from conftest import StartBridge, to_mqtt
from kafka_server import write_topic
from shared_kafka import SharedKafka
from test_offsets import until_begun

from lapwing import Client
from lapwing.lab.kafka import LocalKafka

SOON = 'bridge.kafka.options={"session.timeout.ms" = 6000, "socket.timeout.ms" = 6000}'
"""For so long Kafka keeps the partitions of a member that was killed (45 s is the default), and for so long a request
that was on its way to a Kafka that was killed is waited for (60 s is the default)."""
TIMEOUT_S = 60


class Phone:
    """Takes every command there is, and remembers what came with which position."""

    def __init__(self, client: Client) -> None:
        self._client = client
        client.subscribe("commands/#", qos=1)
        self.payloads: dict[str, bytes] = {}
        self.times: Counter[str] = Counter()

    def take_until(self, enough: Callable[[], bool]) -> None:
        while not enough():
            message = self._client.receive(timeout_s=TIMEOUT_S)
            assert message is not None, f"{len(self.payloads)} have come"
            position = dict(message.user_properties)["lapwing-kafka-position"]
            assert self.payloads.setdefault(position, message.payload) == message.payload, "one position, one record"
            self.times[position] += 1

    @property
    def values(self) -> list[int]:
        """What has come, each position once."""
        return sorted(int(payload) for payload in self.payloads.values())


BATCH = 1_000
"""Records that a member has in hand, at most."""


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_bridge_that_is_killed_while_it_carries(
    broker: RunningBroker, kafka: SharedKafka, start_bridge: StartBridge
) -> None:
    """At any moment: does no more come twice than it had in hand?"""
    topic = kafka.new_topic("carried", partitions=2)
    write_topic(kafka.bootstrap, topic, [record(number) for number in range(6000)])
    with Client(broker.url) as client:
        phone = Phone(client)
        first = start_bridge(broker.url, kafka.bootstrap, to_mqtt(topic), SOON)
        phone.take_until(lambda: len(phone.payloads) >= 1500)
        first.end(signal.SIGKILL)
        write_topic(kafka.bootstrap, topic, [record(number) for number in range(6000, 7000)])
        second = start_bridge(broker.url, kafka.bootstrap, to_mqtt(topic), SOON)
        phone.take_until(lambda: len(phone.payloads) == 7000)
        assert second.end(signal.SIGTERM) == 0
    assert phone.values == list(range(7000))
    assert phone.times.total() - 7000 <= BATCH


@pytest.mark.nightly
@pytest.mark.timeout(300)
def test_what_kafka_could_not_commit_comes_again(
    broker: RunningBroker, tmp_path: Path, start_bridge: StartBridge
) -> None:
    """Kafka is killed when the records are with the bridge, and the bridge when they are with the broker."""
    with LocalKafka(tmp_path / "kafka") as kafka, Client(broker.url) as client:
        kafka.create_topic("uncommitted")
        phone = Phone(client)
        first = start_bridge(broker.url, kafka.bootstrap, to_mqtt("uncommitted"), SOON)
        until_begun(kafka.bootstrap, "uncommitted")
        broker.process.send_signal(signal.SIGSTOP)
        write_topic(kafka.bootstrap, "uncommitted", [record(number) for number in range(300)])
        first.wait_for_notice("no answer")
        kafka.kill()
        broker.process.send_signal(signal.SIGCONT)
        first.wait_for_notice("offsets of group")
        first.end(signal.SIGKILL)
        kafka.start()
        second = start_bridge(broker.url, kafka.bootstrap, to_mqtt("uncommitted"), SOON)
        phone.take_until(lambda: len(phone.payloads) == 300 and phone.times["uncommitted/0/0"] == 2)
        assert second.end(signal.SIGTERM) == 0
    assert phone.values == list(range(300))
    assert set(phone.times.values()) <= {1, 2}


def record(number: int) -> dict[str, object]:
    return {"key": str(number % 50), "value": b"%d" % number}
