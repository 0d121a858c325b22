"""Kafka takes records slowly, or none at all: does the bridge hold no more than two batches, and lose nothing?"""

from __future__ import annotations

import re
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from commands import RunningBroker
from conftest import RunningBridge, StartBridge, metric, to_kafka
from kafka_server import read_topic

from lapwing import Publisher
from lapwing.lab.kafka import LocalKafka, find_jars

BATCH = 100
SMALL = (f"bridge.mqtt.batch={BATCH}", "bridge.kafka.compression=none")
TIMEOUT_S = 60.0
QUOTA_BYTES = 20_000
"""A second; Kafka lets ten seconds' worth through before it slows a client down."""
PAYLOAD_BYTES = 500
MESSAGES = 500
STALL_MS = 5_000
"""Who says nothing for so long has its batches given to others: five times the default, because a busy machine may
leave a member waiting for a second, and what it has in hand then is there twice."""


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[RunningBroker]:
    stalled = f"parameters = {{stall_ms = {STALL_MS}}}"
    group = f'groups.bridge={{filters = ["spectrum/+/readings"], strategy = "key-ordered", {stalled}}}'
    with RunningBroker(tmp_path / "data", "--set", group) as running:
        yield running.wait_until_ready()


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalKafka]:
    with LocalKafka(tmp_path_factory.mktemp("slow"), heap="384m") as running:
        yield running


@pytest.mark.nightly
def test_a_kafka_that_takes_little(broker: RunningBroker, own: LocalKafka, start_bridge: StartBridge) -> None:
    """A quota for the bridge's client.id."""
    own.create_topic("slow", settings={"message.timestamp.type": "LogAppendTime"})
    bridge = start_bridge(broker.url, own.bootstrap, to_kafka("slow"), *SMALL)
    with limited(own.bootstrap, "lapwing-bridge", QUOTA_BYTES):
        publish(broker.url, MESSAGES)
        held = held_until(bridge, lambda: is_done(bridge, MESSAGES))
    assert 0 < max(held) <= 2 * BATCH
    records = read_topic(own.bootstrap, "slow", MESSAGES)
    assert [int(record.value() or b"") for record in records] == list(range(MESSAGES))
    taken_s = (records[-1].timestamp()[1] - records[0].timestamp()[1]) / 1000
    assert MESSAGES * PAYLOAD_BYTES / taken_s < 4 * QUOTA_BYTES, "the quota slows the bridge down"
    assert [figure(bridge, name) for name in ("retries_total", "restarts_total")] == [0, 0]


@pytest.mark.nightly
def test_a_kafka_that_is_down(broker: RunningBroker, own: LocalKafka, start_bridge: StartBridge) -> None:
    """The member is full, and stays so, for longer than one may be silent; all others wait in the broker."""
    own.create_topic("down")
    bridge = start_bridge(broker.url, own.bootstrap, to_kafka("down"), *SMALL)
    own.kill()
    try:
        publish(broker.url, 10 * BATCH)
        held_until(bridge, lambda: in_hand(bridge) == 2 * BATCH)
        bridge.wait_for_notice("waits")
        publish(broker.url, 10 * BATCH, first=10 * BATCH)
        waited_s = metric(bridge, "waiting_seconds", "readings", "to_kafka")
        enough_s = waited_s + STALL_MS / 1000
        held = held_until(bridge, lambda: metric(bridge, "waiting_seconds", "readings", "to_kafka") > enough_s)
        assert set(held) == {2 * BATCH}
        assert 0 < figure(bridge, "in_flight") <= BATCH
        assert figure(bridge, "messages_total") == 0
    finally:
        own.start()
    held = held_until(bridge, lambda: is_done(bridge, 20 * BATCH))
    assert max(held) <= 2 * BATCH
    records = read_topic(own.bootstrap, "down", 20 * BATCH)
    assert [int(record.value() or b"") for record in records] == list(range(20 * BATCH))


@contextmanager
def limited(bootstrap: str, client_id: str, bytes_per_s: int) -> Iterator[None]:
    """What one client may produce meanwhile."""
    command = ["java", "-Xmx128m", "-cp", f"{find_jars()}/*", "kafka.admin.ConfigCommand"]
    command += ["--bootstrap-server", bootstrap, "--alter", "--entity-type", "clients", "--entity-name", client_id]
    subprocess.run([*command, "--add-config", f"producer_byte_rate={bytes_per_s}"], check=True, timeout=TIMEOUT_S)
    yield
    subprocess.run([*command, "--delete-config", "producer_byte_rate"], check=True, timeout=TIMEOUT_S)


def publish(url: str, count: int, first: int = 0) -> None:
    """Numbers of a fixed length; on return the broker has them."""
    with Publisher(url, client_id="phone-7") as publisher:
        for number in range(first, first + count):
            publisher.publish("spectrum/7/readings", b"%0*d" % (PAYLOAD_BYTES, number))
        publisher.flush(TIMEOUT_S)


def figure(bridge: RunningBridge, name: str) -> float:
    return metric(bridge, name, "readings", "to_kafka")


def is_done(bridge: RunningBridge, count: int) -> bool:
    """Nothing is in hand any more, and so many are carried: more, where a batch was given out again."""
    return figure(bridge, "messages_total") >= count and in_hand(bridge) == 0


def in_hand(bridge: RunningBridge) -> int:
    """What the member has taken from the broker and Kafka has not confirmed: both figures of one look."""
    text = urllib.request.urlopen(bridge.metrics_url).read().decode()
    found = re.findall(r"^lapwing_bridge_(?:in_flight|queued)\{.*\} (\d+)$", text, re.MULTILINE)
    assert len(found) == 2, text
    return sum(map(int, found))


def held_until(bridge: RunningBridge, holds: Callable[[], bool]) -> list[int]:
    """How much was in hand each time one looked, until something is so."""
    held = []
    deadline = time.monotonic() + TIMEOUT_S
    while True:
        held.append(in_hand(bridge))
        if holds():
            return held
        assert time.monotonic() < deadline, held[-20:]
        time.sleep(0.02)
