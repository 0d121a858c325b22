"""The bridge's configuration as librdkafka takes it. Secrets are read here and go nowhere else."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from lapwing.config.bridge_sides import BridgeKafka
from lapwing.credentials import read_secret
from lapwing.errors import ConfigError

PASSWORD_VARIABLE = "LAPWING_KAFKA_PASSWORD"  # noqa: S105  (a name, not a secret)
KEY_PASSWORD_VARIABLE = "LAPWING_KAFKA_KEY_PASSWORD"  # noqa: S105

Settings = dict[str, str | int | bool]

_PROTOCOLS = {"plaintext": "PLAINTEXT", "tls": "SSL", "sasl": "SASL_PLAINTEXT", "sasl-tls": "SASL_SSL"}
_SECRETS = ("sasl.password", "ssl.key.password")
_KEYS = {
    "security.protocol": "bridge.kafka.security",
    "ssl.ca.location": "bridge.kafka.ca",
    "ssl.certificate.location": "bridge.kafka.certificate",
    "ssl.key.location": "bridge.kafka.key",
    "ssl.key.password": "bridge.kafka.key_password_file",
}
"""librdkafka names its own settings in what it says; the user has written others."""
_PARTITIONER = "murmur2_random"
"""Java's: the same key lies in the same partition whoever writes it, and records without a key are spread."""
_QUEUE_MESSAGES_MAX = 200_000
"""More than a batch with every letter in parts: the batch is the bound."""


def common_settings(kafka: BridgeKafka, environment: Mapping[str, str] | None = None) -> Settings:
    """Where the cluster is and who the bridge is there.

    Raises:
        ConfigError: a file cannot be read, or a password is nowhere.
    """
    variables = os.environ if environment is None else environment
    settings: Settings = {
        "bootstrap.servers": ",".join(kafka.bootstrap),
        "security.protocol": _PROTOCOLS[kafka.security],
        "client.id": "lapwing-bridge",
        # Errors come as events and are told once; librdkafka would print each of them.
        "log_level": 0,
        "reconnect.backoff.max.ms": 2_000,
        "socket.keepalive.enable": True,
        **kafka.options,
    }
    if kafka.username is not None:
        settings["sasl.mechanisms"] = kafka.mechanism
        settings["sasl.username"] = kafka.username
        settings["sasl.password"] = _password(kafka.password_file, variables)
    files = {"ssl.ca.location": kafka.ca, "ssl.certificate.location": kafka.certificate, "ssl.key.location": kafka.key}
    for name, file in files.items():
        if file is not None:
            settings[name] = str(file)
    if kafka.key_password_file is not None:
        settings["ssl.key.password"] = read_secret(kafka.key_password_file, "key's password")
    elif KEY_PASSWORD_VARIABLE in variables and kafka.key is not None:
        settings["ssl.key.password"] = variables[KEY_PASSWORD_VARIABLE]
    return settings


def producer_settings(kafka: BridgeKafka, common: Settings, *, alone: bool = False) -> Settings:
    """A producer that loses nothing, repeats nothing by itself and keeps the order of each partition.

    Args:
        kafka: The configuration.
        common: From `common_settings`.
        alone: Each record is a batch of its own.
    """
    return common | {
        "enable.idempotence": True,
        "acks": "all",
        "partitioner": _PARTITIONER,
        # No end: what Kafka does not take waits, and the broker keeps what is behind it.
        "message.timeout.ms": 0,
        # A batch is done when nothing is left: a call for each record that went well would cost as much as it.
        "delivery.report.only.error": True,
        "compression.type": kafka.compression,
        "linger.ms": 0 if alone else 5,
        "batch.num.messages": 1 if alone else 10_000,
        "message.max.bytes": kafka.record_bytes_max,
        "queue.buffering.max.messages": _QUEUE_MESSAGES_MAX,
        "queue.buffering.max.kbytes": 2_097_151,
        "topic.metadata.propagation.max.ms": kafka.options.get("topic.metadata.propagation.max.ms", 5_000),
    }


def consumer_settings(common: Settings, group: str) -> Settings:
    """A consumer whose offsets are committed when the broker has the messages, and not before."""
    return common | {
        "group.id": group,
        # It would go elsewhere and say nothing: where to begin is decided in `starts`.
        "auto.offset.reset": "error",
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "partition.assignment.strategy": "cooperative-sticky",
    }


def without_secrets(text: str, settings: Settings) -> str:
    """Text of a library that may quote its settings."""
    for name in _SECRETS:
        secret = settings.get(name)
        if isinstance(secret, str) and secret:
            text = text.replace(secret, "***")
    return text


def in_our_words(text: str, settings: Settings) -> str:
    """Text of librdkafka with the keys of the bridge for its settings, and without secrets."""
    text = without_secrets(text, settings)
    for name, key in _KEYS.items():
        text = text.replace(name, key)
    return text


def _password(file: Path | None, variables: Mapping[str, str]) -> str:
    if file is not None:
        return read_secret(file, "password")
    if PASSWORD_VARIABLE not in variables:
        remedy = f"give bridge.kafka.password_file, or set {PASSWORD_VARIABLE}"
        raise ConfigError("a user name for Kafka without a password", where="bridge.kafka.username", remedy=remedy)
    return variables[PASSWORD_VARIABLE]
