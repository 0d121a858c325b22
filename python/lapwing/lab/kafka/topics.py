"""Topics of a Kafka server, whoever started it."""

from __future__ import annotations

from collections.abc import Mapping

from lapwing.errors import BrokerError

_KNOWN_S = 30.0


def create_topic(
    bootstrap: str, name: str, partitions: int = 1, settings: Mapping[str, str] | None = None, copies: int = 1
) -> None:
    """Makes a topic and waits until the server knows it.

    Args:
        bootstrap: Of a listener that lets us.
        name: Of the topic.
        partitions: How many.
        settings: Those of the topic.
        copies: On so many nodes of the cluster each partition is.

    Raises:
        BrokerError: the server did not make it; it may be there already.
    """
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient
    from confluent_kafka.cimpl import NewTopic

    topic = NewTopic(name, num_partitions=partitions, replication_factor=copies, config=dict(settings or {}))
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    try:
        admin.create_topics([topic], operation_timeout=_KNOWN_S)[name].result()
    except KafkaException as failure:
        raise BrokerError(f"Kafka did not make the topic: {failure.args[0].str()}", where=name) from failure
