"""Is the bridge who it says it is to Kafka over SASL, may it do only what it may, and does it keep its password?"""

from __future__ import annotations

import signal
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
from conftest import StartBridge, to_kafka
from kafka_server import read_topic

from lapwing import Publisher
from lapwing.lab.kafka import LocalKafka

PASSWORD = "correct-horse-battery"


def allow(bootstrap: str, topic: str) -> None:
    """Lets the user `bridge` write a topic."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    bindings = [
        AclBinding(
            ResourceType.TOPIC,
            topic,
            ResourcePatternType.LITERAL,
            "User:bridge",
            "*",
            operation,
            AclPermissionType.ALLOW,
        )
        for operation in (AclOperation.WRITE, AclOperation.DESCRIBE)
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
        allow(kafka.bootstrap, "guarded")
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
        assert "uthentication" in wrong.wait_for_notice("waits")
        assert wrong.end(signal.SIGTERM) == 0
        for shown in (*bridge.notices, *bridge.errors, *wrong.notices, *wrong.errors):
            assert PASSWORD not in shown
            assert "wrong-one" not in shown
