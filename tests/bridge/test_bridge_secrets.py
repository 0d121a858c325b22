"""Is the bridge who it says it is to Kafka over SASL, may it do only what it may, and does it keep its password?"""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest
from commands import RunningBroker
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)
from conftest import StartBridge, metric, to_kafka, to_mqtt
from kafka_keeper import NEWCOMER, PASSWORD
from kafka_server import TIMEOUT_S, read_topic, write_topic
from shared_kafka import SharedKafka

from lapwing import Client, Publisher

SASL = ("bridge.kafka.security=sasl", "bridge.kafka.mechanism=PLAIN", f"bridge.kafka.username={NEWCOMER}")


def allow(bootstrap: str, name: str, *operations: AclOperation, kind: ResourceType = ResourceType.TOPIC) -> None:
    """Lets the newcomer do something with a topic or a group."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    bindings = [
        AclBinding(kind, name, ResourcePatternType.LITERAL, f"User:{NEWCOMER}", "*", operation, AclPermissionType.ALLOW)
        for operation in operations
    ]
    for future in admin.create_acls(bindings).values():
        future.result()


@pytest.mark.nightly
def test_who_may_not_write_waits_until_he_may(
    broker: RunningBroker, kafka: SharedKafka, tmp_path: Path, start_bridge: StartBridge
) -> None:
    secret = tmp_path / "password"
    secret.write_text(f"{PASSWORD}\n")
    topic = kafka.new_topic("guarded")
    settings = (*SASL, f"bridge.kafka.password_file={secret}", "bridge.kafka.retry=100ms", to_kafka(topic))
    bridge = start_bridge(broker.url, kafka.sasl_plaintext_bootstrap, *settings)
    with Publisher(broker.url) as publisher:
        publisher.publish("spectrum/1/readings", b"mine")
    bridge.wait_for_notice("authorization failed")
    allow(kafka.bootstrap, topic, AclOperation.WRITE, AclOperation.DESCRIBE)
    bridge.wait_for_notice("goes on")
    assert [record.value() for record in read_topic(kafka.bootstrap, topic, 1)] == [b"mine"]
    assert bridge.end(signal.SIGTERM) == 0

    wrong_one = {"LAPWING_KAFKA_PASSWORD": "wrong-one"}
    wrong = start_bridge(broker.url, kafka.sasl_plaintext_bootstrap, *SASL, to_kafka(topic), variables=wrong_one)
    with Publisher(broker.url) as publisher:
        publisher.publish("spectrum/1/readings", b"later")
    # It may say before that nothing is confirmed yet.
    assert "waits" in wrong.wait_for_notice("uthentication")
    assert wrong.end(signal.SIGTERM) == 0
    for shown in (*bridge.notices, *bridge.errors, *wrong.notices, *wrong.errors):
        assert PASSWORD not in shown
        assert "wrong-one" not in shown


def test_who_may_not_join_the_group_waits_until_he_may(
    broker: RunningBroker, kafka: SharedKafka, start_bridge: StartBridge
) -> None:
    """Kafka says so once, and answers everything else: does the bridge not say that it goes on?"""
    topic, secret = kafka.new_topic("orders"), {"LAPWING_KAFKA_PASSWORD": PASSWORD}
    with Client(broker.url) as phone:
        phone.subscribe("commands/#", qos=1)
        write_topic(kafka.bootstrap, topic, [{"key": "1", "value": b"go"}])
        allow(kafka.bootstrap, topic, AclOperation.READ, AclOperation.DESCRIBE)
        bridge = start_bridge(broker.url, kafka.sasl_plaintext_bootstrap, *SASL, to_mqtt(topic), variables=secret)
        bridge.wait_for_notice("authorization failed")
        deadline = time.monotonic() + TIMEOUT_S
        while metric(bridge, "waiting_seconds") < 3:
            assert time.monotonic() < deadline
            time.sleep(0.1)  # the question itself computes
        allow(kafka.bootstrap, f"group-{topic}", AclOperation.READ, kind=ResourceType.GROUP)
        assert float(bridge.wait_for_notice("goes on").split()[-2]) > 3
        message = phone.receive(timeout_s=30)
        assert message is not None
        assert message.payload == b"go"
        assert bridge.end(signal.SIGTERM) == 0
