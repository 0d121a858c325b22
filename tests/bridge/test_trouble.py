"""What becomes of messages that Kafka cannot take, now or ever? Each is there in the end, under a name."""

from __future__ import annotations

import json
import signal
import time
import urllib.error
import urllib.request
import uuid
from pathlib import Path

import pytest
from commands import RunningBroker
from conftest import StartBridge, metric, to_kafka
from kafka_server import TIMEOUT_S, headers_of, read_topic
from restarting import RestartingBroker
from shared_kafka import SharedKafka

from lapwing import Publisher
from lapwing.lab.kafka import LocalKafka

NO_LARGE_BATCHES = {"max.message.bytes": "100000"}


def publish(url: str, *payloads: bytes, client_id: str = "phone-7") -> None:
    """At QoS 1; on return the broker has them."""
    with Publisher(url, client_id=client_id) as publisher:
        for payload in payloads:
            publisher.publish("spectrum/7/readings", payload)


def test_a_missing_topic_is_waited_for(broker: RunningBroker, kafka: SharedKafka, start_bridge: StartBridge) -> None:
    # The server makes no topics by itself.
    topic = f"later-{uuid.uuid4().hex}"
    bridge = start_bridge(broker.url, kafka.bootstrap, to_kafka(topic), "bridge.kafka.retry=100ms")
    publish(broker.url, *(b"%d" % number for number in range(100)))
    bridge.wait_for_notice(f"'{topic}'")
    kafka.create_topic(topic)
    bridge.wait_for_notice("goes on")
    records = read_topic(kafka.bootstrap, topic, 100)
    assert [int(record.value()) for record in records] == list(range(100))
    assert metric(bridge, "retries_total", "readings", "to_kafka") >= 1


def test_what_is_too_large_is_a_dead_letter_and_its_batch_is_not(
    broker: RunningBroker, kafka: SharedKafka, start_bridge: StartBridge
) -> None:
    """Kafka refuses the batch for its size: is only the record dead that is too large by itself?"""
    topic, dead = (kafka.new_topic(name, settings=NO_LARGE_BATCHES) for name in ("small", "letters"))
    letters_there = (f"bridge.kafka.dead_letters={dead}", "bridge.kafka.dead_letter_part_bytes=50000")
    settings = ("bridge.kafka.compression=none", "bridge.mqtt.linger=1s", *letters_there)
    bridge = start_bridge(broker.url, kafka.bootstrap, to_kafka(topic), *settings)
    payloads = [bytes([65 + number]) * 40_000 for number in range(5)]
    large = bytes(range(256)) * 512
    publish(broker.url, *payloads, large)
    records = read_topic(kafka.bootstrap, topic, 5)
    assert sorted(record.value() for record in records) == payloads
    letters = read_topic(kafka.bootstrap, dead, 3)
    assert b"".join(letter.value() for letter in letters) == large
    headers = headers_of(letters[1])
    assert headers["lapwing-reason"] == "too-large"
    assert headers["lapwing-part"] == "2/3"
    assert headers["lapwing-kafka-topic"] == topic
    assert headers["lapwing-topic"] == "spectrum/7/readings"
    assert bridge.end(signal.SIGTERM) == 0


def test_a_record_that_kafka_refuses_for_what_it_is_is_a_dead_letter(
    broker: RunningBroker, kafka: SharedKafka, start_bridge: StartBridge
) -> None:
    """A compacted topic takes no record without a key: are those with one carried, although they share a batch?"""
    topic, dead = kafka.new_topic("compacted", settings={"cleanup.policy": "compact"}), kafka.new_topic("letters")
    rule = to_kafka(topic, key="{property:device}")
    bridge = start_bridge(broker.url, kafka.bootstrap, rule, f"bridge.kafka.dead_letters={dead}")
    with Publisher(broker.url) as publisher:
        for number in range(20):
            key = [] if number == 7 else [("device", f"d{number}")]
            publisher.publish("spectrum/7/readings", str(number), user_properties=key)
    records = read_topic(kafka.bootstrap, topic, 19)
    assert {int(record.value()) for record in records} == set(range(20)) - {7}
    (letter,) = read_topic(kafka.bootstrap, dead, 1)
    assert letter.value() == b"7"
    assert headers_of(letter)["lapwing-reason"] == "invalid"
    assert metric(bridge, "retries_total", "readings", "to_kafka") == 1, "only the one without a key goes alone"
    assert bridge.end(signal.SIGTERM) == 0
    assert not [notice for notice in bridge.all_notices() if topic in notice]


def test_made_up_names_take_no_room_from_topics_that_there_are(
    broker: RunningBroker, kafka: SharedKafka, start_bridge: StartBridge
) -> None:
    """A stranger names topics that nobody made, batch after batch: is what is for a real one carried all the same?"""
    start, dead = f"made-{uuid.uuid4().hex[:8]}", kafka.new_topic("letters")
    kafka.create_topic(f"{start}-good")
    bounds = ("bridge.kafka.topics_max=12", "bridge.kafka.topic_wait=200ms", "bridge.kafka.strange_topics_max=2")
    settings = (*bounds, f"bridge.kafka.dead_letters={dead}", "bridge.kafka.retry=50ms", "bridge.mqtt.batch=10")
    soon = 'bridge.kafka.options={"topic.metadata.propagation.max.ms" = 200}'
    bridge = start_bridge(broker.url, kafka.bootstrap, to_kafka(f"{start}-{{1}}"), soon, *settings)
    with Publisher(broker.url) as publisher:
        for number in range(60):
            name = f"junk{number}" if number < 50 else "good"
            publisher.publish(f"spectrum/{name}/readings", str(number))
    records = read_topic(kafka.bootstrap, f"{start}-good", 10)
    assert [int(record.value()) for record in records] == list(range(50, 60))
    letters = read_topic(kafka.bootstrap, dead, 50)
    assert len(letters) == 50
    assert {headers_of(letter)["lapwing-reason"] for letter in letters} == {"no-topic"}
    deadline = time.monotonic() + TIMEOUT_S
    while metric(bridge, "strange_topics_total", "readings", "to_kafka") < 50:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert bridge.end(signal.SIGTERM) == 0


@pytest.mark.nightly
def test_kafka_killed_paused_and_back(broker: RunningBroker, tmp_path: Path, start_bridge: StartBridge) -> None:
    own = LocalKafka(tmp_path / "kafka")
    with own as kafka:
        kafka.create_topic("through")
        bridge = start_bridge(broker.url, kafka.bootstrap, to_kafka("through"))
        publish(broker.url, b"before")
        assert len(read_topic(kafka.bootstrap, "through", 1)) == 1
        kafka.kill()
        publish(broker.url, *(b"killed %d" % number for number in range(50)))
        bridge.wait_for_notice("waits")
        kafka.start()
        bridge.wait_for_notice("goes on")
        kafka.pause()
        publish(broker.url, *(b"paused %d" % number for number in range(50)))
        bridge.wait_for_notice("waits")
        kafka.resume()
        bridge.wait_for_notice("goes on")
        publish(broker.url, b"after")
        records = read_topic(kafka.bootstrap, "through", 102)
        values = list(dict.fromkeys(record.value() for record in records))
        assert values[0] == b"before"
        assert values[-1] == b"after"
        assert len(values) == 102
        assert bridge.end(signal.SIGTERM) == 0


@pytest.mark.nightly
def test_a_drain_does_not_wait_for_ever_and_nothing_is_lost(
    broker: RunningBroker, tmp_path: Path, start_bridge: StartBridge
) -> None:
    own = LocalKafka(tmp_path / "kafka")
    with own as kafka:
        kafka.create_topic("drained")
        first = start_bridge(broker.url, kafka.bootstrap, to_kafka("drained"), "bridge.drain=300ms")
        kafka.kill()
        publish(broker.url, b"kept")
        first.wait_for_notice("waits")
        assert first.end(signal.SIGTERM) == 0
        kafka.start()
        second = start_bridge(broker.url, kafka.bootstrap, to_kafka("drained"))
        assert [record.value() for record in read_topic(kafka.bootstrap, "drained", 1)] == [b"kept"]
        assert second.end(signal.SIGTERM) == 0


def test_a_broker_that_is_away_is_told_of(kafka: SharedKafka, tmp_path: Path, start_bridge: StartBridge) -> None:
    """A lane that waits for messages does not notice by itself: is it said, shown, and over in the end?"""
    broker = RestartingBroker(tmp_path)
    broker.start()
    try:
        bridge = start_bridge(broker.url, kafka.bootstrap, to_kafka(kafka.new_topic("away")))
        broker.kill()
        bridge.wait_for_notice("is gone")
        with pytest.raises(urllib.error.HTTPError) as raised:
            urllib.request.urlopen(bridge.metrics_url.replace("/metrics", "/healthz"))
        assert json.load(raised.value) == {"status": "waiting", "rules": ["readings"]}
        broker.start()
        bridge.wait_for_notice("is back")
        assert bridge.end(signal.SIGTERM) == 0
    finally:
        broker.kill()
