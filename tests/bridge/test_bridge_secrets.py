"""Is the bridge who it says it is to Kafka over SASL, may it do only what it may, and does it keep its password?"""

from __future__ import annotations

import signal
import time
from pathlib import Path

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
from kafka_server import TIMEOUT_S, read_topic, write_topic

from lapwing import Client, Publisher
from lapwing.lab.kafka import LocalKafka

PASSWORD = "correct-horse-battery"


def allow(bootstrap: str, name: str, *operations: AclOperation, kind: ResourceType = ResourceType.TOPIC) -> None:
    """Lets the user `bridge` do something with a topic or a group."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    bindings = [
        AclBinding(kind, name, ResourcePatternType.LITERAL, "User:bridge", "*", operation, AclPermissionType.ALLOW)
        for operation in operations
    ]
    for future in admin.create_acls(bindings).values():
        future.result()


def test_who_may_not_write_waits_until_he_may(broker: RunningBroker, tmp_path: Path, start_bridge: StartBridge) -> None:
    secret = tmp_path / "password"
    secret.write_text(f"{PASSWORD}\n")
    sasl = ("bridge.kafka.security=sasl", "bridge.kafka.mechanism=PLAIN", "bridge.kafka.username=bridge")
    with LocalKafka(tmp_path / "kafka", users={"bridge": PASSWORD}) as kafka:
        kafka.create_topic("guarded")
        settings = (*sasl, f"bridge.kafka.password_file={secret}", "bridge.kafka.retry=100ms", to_kafka("guarded"))
        bridge = start_bridge(broker.url, kafka.sasl_bootstrap, *settings)
        with Publisher(broker.url) as publisher:
            publisher.publish("spectrum/1/readings", b"mine")
        bridge.wait_for_notice("authorization failed")
        allow(kafka.bootstrap, "guarded", AclOperation.WRITE, AclOperation.DESCRIBE)
        bridge.wait_for_notice("goes on")
        assert [record.value() for record in read_topic(kafka.bootstrap, "guarded", 1)] == [b"mine"]
        assert bridge.end(signal.SIGTERM) == 0

        wrong = start_bridge(
            broker.url,
            kafka.sasl_bootstrap,
            *sasl,
            to_kafka("guarded"),
            variables={"LAPWING_KAFKA_PASSWORD": "wrong-one"},
        )
        with Publisher(broker.url) as publisher:
            publisher.publish("spectrum/1/readings", b"later")
        # It may say before that nothing is confirmed yet.
        assert "waits" in wrong.wait_for_notice("uthentication")
        assert wrong.end(signal.SIGTERM) == 0
        for shown in (*bridge.notices, *bridge.errors, *wrong.notices, *wrong.errors):
            assert PASSWORD not in shown
            assert "wrong-one" not in shown


def test_who_may_not_join_the_group_waits_until_he_may(
    broker: RunningBroker, tmp_path: Path, start_bridge: StartBridge
) -> None:
    """Kafka says so once, and answers everything else: does the bridge not say that it goes on?"""
    sasl = ("bridge.kafka.security=sasl", "bridge.kafka.mechanism=PLAIN", "bridge.kafka.username=bridge")
    with LocalKafka(tmp_path / "kafka", users={"bridge": PASSWORD}) as kafka, Client(broker.url) as phone:
        kafka.create_topic("orders")
        phone.subscribe("commands/#", qos=1)
        write_topic(kafka.bootstrap, "orders", [{"key": "1", "value": b"go"}])
        allow(kafka.bootstrap, "orders", AclOperation.READ, AclOperation.DESCRIBE)
        secret = {"LAPWING_KAFKA_PASSWORD": PASSWORD}
        bridge = start_bridge(broker.url, kafka.sasl_bootstrap, *sasl, to_mqtt("orders"), variables=secret)
        bridge.wait_for_notice("authorization failed")
        deadline = time.monotonic() + TIMEOUT_S
        while metric(bridge, "waiting_seconds") < 3:
            assert time.monotonic() < deadline
        allow(kafka.bootstrap, "group-orders", AclOperation.READ, kind=ResourceType.GROUP)
        assert float(bridge.wait_for_notice("goes on").split()[-2]) > 3
        message = phone.receive(timeout_s=30)
        assert message is not None
        assert message.payload == b"go"
        assert bridge.end(signal.SIGTERM) == 0
