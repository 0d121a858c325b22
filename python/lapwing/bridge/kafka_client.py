"""Makes librdkafka's clients, and says what is wrong with their settings without quoting a secret."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from confluent_kafka import KafkaException

from lapwing.bridge.kafka_settings import Settings, in_our_words
from lapwing.errors import ConfigError

Client = TypeVar("Client")


def made(kind: Callable[[dict[str, Any]], Client], settings: Settings, **heard_by: Callable[..., None]) -> Client:
    """A producer or a consumer; librdkafka calls ``heard_by``, by the names of its settings.

    Raises:
        ConfigError: librdkafka does not take the settings.
    """
    try:
        return kind({**settings, **heard_by})
    except (KafkaException, TypeError, ValueError) as failure:
        text = failure.args[0].str() if isinstance(failure, KafkaException) else str(failure)
        # Without its cause, which may quote a setting.
        raise ConfigError(
            f"Kafka's client cannot be made: {in_our_words(text, settings)}",
            where="bridge.kafka",
            remedy="correct this setting",
        ) from None
