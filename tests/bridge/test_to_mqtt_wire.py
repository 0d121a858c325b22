"""Does what a rule to MQTT says of topic, QoS and retain show in the messages that devices get?"""

from __future__ import annotations

import signal

import pytest
from commands import RunningBroker
from conftest import StartBridge, to_mqtt
from kafka_server import write_topic
from shared_kafka import SharedKafka

from lapwing import Client
from lapwing.client import Message

RECORD = {"key": "phone-7", "value": b"on", "headers": [("unit", b"dBm")]}


@pytest.mark.parametrize(
    ("name", "qos", "retain", "to", "topic"),
    [
        ("plain", 0, False, "commands/{key}", "commands/phone-7"),
        ("kept", 1, True, "state/{topic}/of-{key}", "state/TOPIC/of-phone-7"),
        ("exact", 2, False, "units/{header:unit}/{key}", "units/dBm/phone-7"),
        ("both", 2, True, "{key}", "phone-7"),
    ],
)
def test_a_rule_on_the_wire(
    broker: RunningBroker,
    kafka: SharedKafka,
    start_bridge: StartBridge,
    name: str,
    qos: int,
    retain: bool,
    to: str,
    topic: str,
) -> None:
    records = kafka.new_topic(name)
    topic = topic.replace("TOPIC", records)
    with Client(broker.url) as device:
        device.subscribe("#", qos=2, retain_as_published=True)
        bridge = start_bridge(broker.url, kafka.bootstrap, to_mqtt(records, to=to, qos=qos, retain=retain))
        write_topic(kafka.bootstrap, records, [RECORD])
        message = next_of(device)
        assert (message.topic, message.payload, message.qos, message.retain) == (topic, b"on", qos, retain)
        assert message.user_properties == [("lapwing-kafka-position", f"{records}/0/0"), ("unit", "dBm")]
        if retain:
            assert found_by_a_newcomer(broker.url, topic) == message
        write_topic(kafka.bootstrap, records, [{**RECORD, "value": b""}])
        message = next_of(device)
        assert (message.topic, message.payload, message.retain) == (topic, b"", retain)
    assert bridge.end(signal.SIGTERM) == 0


def found_by_a_newcomer(url: str, topic: str) -> Message:
    """The retained message of a topic, once there is one."""
    with Client(url) as newcomer:
        newcomer.subscribe(topic, qos=2)
        return next_of(newcomer)


def next_of(client: Client) -> Message:
    message = client.receive(timeout_s=30)
    assert message is not None
    return message
