"""Do records of a Kafka topic reach their devices, and are their offsets committed only then?"""

from __future__ import annotations

import signal
import time
import urllib.request
from pathlib import Path

from commands import RunningBroker
from conftest import StartBridge, metric, to_mqtt
from kafka_server import headers_of, read_topic, write_topic
from restarting import RestartingBroker
from shared_kafka import SharedKafka

from lapwing import Client

SOON_S = 100.0
"""Kafka is asked seldom how far behind the bridge is, and may be slow to answer."""


def test_commands_reach_their_devices(broker: RunningBroker, kafka: SharedKafka, start_bridge: StartBridge) -> None:
    topic, dead = kafka.new_topic("commands"), kafka.new_topic("letters")
    settings = (to_mqtt(topic), f"bridge.kafka.dead_letters={dead}")
    with Client(broker.url, client_id="phone-7") as phone:
        phone.subscribe("commands/phone-7", qos=1)
        first = start_bridge(broker.url, kafka.bootstrap, *settings)
        headers = [("unit", b"dBm"), ("lapwing-content-type", b"text/plain"), ("raw", b"\xff")]
        write_topic(
            kafka.bootstrap,
            topic,
            [
                {"key": "phone-7", "value": b"measure", "headers": headers},
                {"key": "phone-8", "value": b"rest"},
                {"key": "phone/+", "value": b"nobody"},
                {"value": b"without a key"},
            ],
        )
        message = phone.receive(timeout_s=30)
        assert message is not None
        assert (message.payload, message.qos, message.content_type) == (b"measure", 1, "text/plain")
        assert message.user_properties == [("lapwing-kafka-position", f"{topic}/0/0"), ("unit", "dBm")]
        letters = read_topic(kafka.bootstrap, dead, 2)
        assert {letter.value() for letter in letters} == {b"nobody", b"without a key"}
        assert headers_of(letters[0])["lapwing-reason"] == "bad-topic"
        assert first.end(signal.SIGTERM) == 0

        second = start_bridge(broker.url, kafka.bootstrap, *settings)
        write_topic(kafka.bootstrap, topic, [{"key": "phone-7", "value": b"again"}])
        message = phone.receive(timeout_s=30)
        assert message is not None
        assert message.payload == b"again", "what was committed does not come again"
        assert second.end(signal.SIGTERM) == 0


def test_a_broker_that_is_away_is_waited_for(kafka: SharedKafka, tmp_path: Path, start_bridge: StartBridge) -> None:
    topic = kafka.new_topic("patient")
    broker = RestartingBroker(tmp_path)
    broker.start()
    try:
        with Client(broker.url, client_id="phone", clean_start=False, session_expiry_s=600) as phone:
            phone.subscribe("commands/#", qos=1)
        bridge = start_bridge(broker.url, kafka.bootstrap, to_mqtt(topic))
        broker.kill()
        write_topic(kafka.bootstrap, topic, [{"key": str(number), "value": b"x"} for number in range(50)])
        bridge.wait_for_notice("waits")
        write_topic(kafka.bootstrap, topic, [{"key": str(number), "value": b"x"} for number in range(20)])
        deadline = time.monotonic() + SOON_S
        while metric(bridge, "behind_records") < 70:
            assert time.monotonic() < deadline, "what comes while it waits counts, too"
            time.sleep(0.05)
        broker.start()
        bridge.wait_for_notice("goes on")
        with Client(broker.url, client_id="phone", clean_start=False, session_expiry_s=600) as phone:
            topics = {message.topic for message in _take(phone, 50)}
        assert topics == {f"commands/{number}" for number in range(50)}
        deadline = time.monotonic() + SOON_S
        while time.monotonic() < deadline:
            metrics = urllib.request.urlopen(bridge.metrics_url).read().decode()
            if 'lapwing_bridge_messages_total{rule="commands",direction="to_mqtt"} 70' in metrics:
                break
        else:
            raise AssertionError(metrics)
        assert bridge.end(signal.SIGTERM) == 0
    finally:
        broker.kill()


def _take(client: Client, count: int) -> list[object]:
    taken = []
    for message in client.messages(timeout_s=60):
        taken.append(message)
        if len({each.topic for each in taken}) == count:
            break
    return taken
