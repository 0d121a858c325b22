"""The leader of a partition is killed under load: is every record there, in the order of its key, and none twice?"""

from __future__ import annotations

import json
import signal
import threading
import time
from collections import defaultdict
from pathlib import Path

import pytest
from commands import RunningBroker
from confluent_kafka import Message
from conftest import RunningBridge, StartBridge, metric, to_kafka
from kafka_cluster import KafkaCluster
from kafka_server import headers_of, read_topic

from lapwing import Publisher
from lapwing.lab.kafka import LocalKafka

DEVICES = 8
BETWEEN = 1_000
"""Messages that are carried before a leader is killed, and again after it."""
BATCH = 1_000
TIMEOUT_S = 120.0


class Load:
    """Devices that publish numbers, in turn, until it ends."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self.published = 0
        """By each device."""

    def __enter__(self) -> Load:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        with Publisher(self._url) as publisher:
            while not self._over.wait(0.02):
                for device in range(DEVICES):
                    publisher.publish(f"spectrum/{device}/readings", str(self.published), timeout_s=TIMEOUT_S)
                self.published += 1


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_leaders_are_killed_under_load(broker: RunningBroker, tmp_path: Path, start_bridge: StartBridge) -> None:
    """One after the other; the killed one is back before the next one goes."""
    with KafkaCluster(tmp_path / "kafka") as kafka:
        kafka.create_topic("led", partitions=2)
        servers = json.dumps(kafka.bootstrap.split(","))
        bridge = start_bridge(broker.url, servers, to_kafka("led", key="{1}"))
        with Load(broker.url) as load:
            for partition in (0, 1):
                carry_on(bridge)
                killed = kill_leader(kafka, partition)
                carry_on(bridge)
                kafka.until_another_leads("led", partition, killed)
                kafka.nodes[killed].start(TIMEOUT_S)
                kafka.until_in_sync("led")
        count = load.published * DEVICES
        carry_on(bridge, until=count)
        restarts = metric(bridge, "restarts_total", "readings", "to_kafka")
        assert bridge.end(signal.SIGTERM) == 0
        records = read_topic(kafka.bootstrap, "led", count + BATCH, timeout_s=20, with_repeats=True)
    by_device = in_order(records)
    assert by_device == {b"%d" % device: list(range(load.published)) for device in range(DEVICES)}
    assert len({headers_of(record)["lapwing-message-id"] for record in records}) == count
    assert len(records) - count <= restarts * BATCH, "one producer writes none twice"


def carry_on(bridge: RunningBridge, until: int | None = None) -> None:
    """Until so many are in Kafka; by default some more than now."""
    wanted = metric(bridge, "messages_total", "readings", "to_kafka") + BETWEEN if until is None else until
    deadline = time.monotonic() + TIMEOUT_S
    while (carried := metric(bridge, "messages_total", "readings", "to_kafka")) < wanted:
        assert time.monotonic() < deadline, f"{carried} of {wanted}"
        time.sleep(0.05)


def kill_leader(kafka: KafkaCluster, partition: int) -> int:
    node = kafka.leader_of("led", partition)
    leader: LocalKafka = kafka.nodes[node]
    leader.kill()
    return node


def in_order(records: list[Message]) -> dict[bytes, list[int]]:
    """By key the numbers, as they lie in its partition; of what is there twice, the first."""
    numbers: dict[bytes, dict[int, None]] = defaultdict(dict)
    for record in records:
        numbers[record.key() or b""].setdefault(int(record.value() or b""))
    return {key: list(found) for key, found in numbers.items()}
