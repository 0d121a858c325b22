"""The source of a job, by its URL."""

from __future__ import annotations

from collections.abc import Mapping

from lapwing.pipeline.source.broker_stream import BrokerStream
from lapwing.pipeline.source.job_source import JobSource
from lapwing.pipeline.source.kafka_address import SCHEME
from lapwing.pipeline.source.kafka_topic import KafkaTopic


def open_source(url: str, options: Mapping[str, str]) -> JobSource:
    """A Kafka topic for ``kafka://``, else a broker's stream; nothing is asked yet.

    Args:
        url: See `StreamJob`.
        options: The source's.

    Raises:
        ConfigError: The URL or an option is wrong.
    """
    if url.startswith(SCHEME):
        return KafkaTopic(url, options)
    return BrokerStream(url, options)
