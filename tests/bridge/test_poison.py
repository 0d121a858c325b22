"""Does a record of Kafka that can be no message keep no other waiting?"""

from __future__ import annotations

import signal

import pytest
from commands import RunningBroker
from conftest import StartBridge, to_mqtt
from kafka_server import headers_of, read_topic, write_topic
from shared_kafka import SharedKafka

from lapwing import Client

POISON: dict[str, dict[str, object]] = {
    "answer": {"key": "1", "headers": [("lapwing-response-topic", b"a/#")]},
    "long": {"key": "1", "headers": [("unit", b"x" * 70_000)]},
    "null": {"key": "a/+", "headers": [("nothing", None)]},
    "many": {"key": "1", "headers": [("n", b"v")] * 100},
    "deep": {"key": "/".join("d" * 70)},
}


@pytest.mark.parametrize("name", POISON)
def test_a_poison_record(broker: RunningBroker, kafka: SharedKafka, start_bridge: StartBridge, name: str) -> None:
    topic, letters = kafka.new_topic(f"poison-{name}"), kafka.new_topic("letters")
    with Client(broker.url) as phone:
        phone.subscribe("commands/#", qos=1)
        bridge = start_bridge(broker.url, kafka.bootstrap, to_mqtt(topic), f"bridge.kafka.dead_letters={letters}")
        write_topic(kafka.bootstrap, topic, [{**POISON[name], "value": b"poison"}, {"key": "1", "value": b"good"}])
        message = phone.receive(timeout_s=30)
        assert message is not None
        assert message.payload == b"good"
        (letter,) = read_topic(kafka.bootstrap, letters, 1)
        assert letter.value() == b"poison"
        assert headers_of(letter)["lapwing-reason"] in ("invalid", "bad-topic")
        assert bridge.end(signal.SIGTERM) == 0


def test_what_the_broker_ends_the_connection_over(
    broker: RunningBroker, kafka: SharedKafka, start_bridge: StartBridge
) -> None:
    """The bridge believes that the broker takes more than it does: is the one record found over which it hangs up?"""
    topic, letters = kafka.new_topic("misled"), kafka.new_topic("letters")
    more = "bridge.mqtt.user_properties_max=1000"
    with Client(broker.url) as phone:
        phone.subscribe("commands/#", qos=1)
        start_bridge(broker.url, kafka.bootstrap, to_mqtt(topic), more, f"bridge.kafka.dead_letters={letters}")
        poison = {"key": "p", "value": b"poison", "headers": [("n", b"v")] * 100}
        good = [{"key": str(number), "value": b"good"} for number in range(5)]
        write_topic(kafka.bootstrap, topic, [*good[:3], poison, *good[3:]])
        (letter,) = read_topic(kafka.bootstrap, letters, 1)
        assert letter.value() == b"poison"
        assert headers_of(letter)["lapwing-reason"] == "refused"
        topics = set()
        while len(topics) < 5:
            message = phone.receive(timeout_s=30)
            assert message is not None
            topics.add(message.topic)
    assert topics == {f"commands/{number}" for number in range(5)}
