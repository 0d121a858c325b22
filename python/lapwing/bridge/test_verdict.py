"""What becomes of a record that Kafka did not take?"""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError

from lapwing.bridge.kafka_settings import common_settings, producer_settings, without_secrets
from lapwing.bridge.verdict import Verdict, reason_of, verdict_of
from lapwing.config.bridge_sides import BridgeKafka
from lapwing.config.secret_text import without_secrets as hidden
from lapwing.contracts.kafka_record import Reason
from lapwing.errors import ConfigError


@pytest.mark.parametrize(
    ("code", "in_batch", "alone"),
    [
        (KafkaError.MSG_SIZE_TOO_LARGE, Verdict.ALONE, Verdict.DEAD),
        (KafkaError.INVALID_RECORD, Verdict.ALONE, Verdict.DEAD),
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, Verdict.AGAIN, Verdict.AGAIN),
        (KafkaError.UNKNOWN_TOPIC_OR_PART, Verdict.AGAIN, Verdict.AGAIN),
        (KafkaError._UNKNOWN_TOPIC, Verdict.AGAIN, Verdict.AGAIN),
        (KafkaError._FATAL, Verdict.RESTART, Verdict.RESTART),
        (KafkaError._PURGE_INFLIGHT, Verdict.RESTART, Verdict.RESTART),
        (KafkaError.NOT_LEADER_FOR_PARTITION, Verdict.AGAIN, Verdict.AGAIN),
        (KafkaError.LEADER_NOT_AVAILABLE, Verdict.AGAIN, Verdict.AGAIN),
        (KafkaError.FENCED_LEADER_EPOCH, Verdict.AGAIN, Verdict.AGAIN),
        (KafkaError.UNKNOWN_LEADER_EPOCH, Verdict.AGAIN, Verdict.AGAIN),
        (KafkaError.NOT_ENOUGH_REPLICAS, Verdict.AGAIN, Verdict.AGAIN),
        (KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND, Verdict.AGAIN, Verdict.AGAIN),
        (123_456, Verdict.AGAIN, Verdict.AGAIN),
    ],
)
def test_verdicts(code: int, in_batch: Verdict, alone: Verdict) -> None:
    assert [verdict_of(code, alone=False), verdict_of(code, alone=True)] == [in_batch, alone]


def test_reasons() -> None:
    assert reason_of(KafkaError.MSG_SIZE_TOO_LARGE) is Reason.TOO_LARGE
    assert reason_of(KafkaError.INVALID_RECORD) is Reason.INVALID


def test_a_producer_loses_nothing_and_partitions_as_java_does() -> None:
    kafka = BridgeKafka()
    settings = producer_settings(kafka, common_settings(kafka, {}))
    expected = {"enable.idempotence": True, "acks": "all", "partitioner": "murmur2_random", "message.timeout.ms": 0}
    assert expected.items() <= settings.items()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("bridge.kafka.password=horse", "bridge.kafka.password=***"),
        ('{"sasl.password" = "a horse", x = 1}', '{"sasl.password" = ***, x = 1}'),
        ("{'ssl.key.password': 'horse'}", "{'ssl.key.password': ***}"),
        ("bridge.kafka.password_file=/run/x", "bridge.kafka.password_file=/run/x"),
        ("bridge.kafka.key_password_file=/run/x", "bridge.kafka.key_password_file=/run/x"),
        ("broker.shards=2", "broker.shards=2"),
        ("bridge.kafka.password=a horse, a battery", "bridge.kafka.password=***"),
        ('{"sasl.password" = "a \\" horse", x = 1}', '{"sasl.password" = ***, x = 1}'),
        ('{"sasl.password" = """a horse""", x = 1}', '{"sasl.password" = ***, x = 1}'),
        ('{"sasl.password" = "a" horse}', '{"sasl.password" = ***'),
        ("sasl.password=horse", "sasl.password=***"),
        ("{'ssl.key.pem': 'MIIEv'}", "{'ssl.key.pem': ***}"),
        ("-----BEGIN PRIVATE KEY-----\nMIIEv", "***"),
        ("bridge.mqtt.url=tcp://me:horse@host:1883", "bridge.mqtt.url=tcp://***@host:1883"),
        ("bridge.mqtt.url=tcp://me:h@r/se@host", "bridge.mqtt.url=tcp://***@host"),
        ('["me:horse@host:9092"]', '["***@host:9092"]'),
        ("tcp://127.0.0.1:1883", "tcp://127.0.0.1:1883"),
    ],
)
def test_secrets_where_none_belong_are_not_shown(text: str, shown: str) -> None:
    assert hidden(text) == shown


def test_passwords_come_from_the_environment_and_are_not_shown() -> None:
    kafka = BridgeKafka(security="sasl", username="bridge")
    with pytest.raises(ConfigError, match="LAPWING_KAFKA_PASSWORD"):
        common_settings(kafka, {})
    settings = common_settings(kafka, {"LAPWING_KAFKA_PASSWORD": "horse"})
    assert settings["sasl.password"] == "horse"
    assert without_secrets("it says horse", settings) == "it says ***"
