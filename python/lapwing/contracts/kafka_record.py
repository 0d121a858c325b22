"""A message as a Kafka record: what the bridge writes, and what Spark, the lab and other consumers read.

The record's value is the payload, untouched. Its key is what the bridge's rule says: a level of the topic, the
publisher's client id, or a user property; null where that is not there. The partition follows from the key as Java
clients choose it (murmur2). Everything else is in headers, all of them text in UTF-8 but ``CORRELATION_DATA``:

- Headers of ours come first, each at most once. The MQTT user properties follow under their own names, in order; names
  may repeat. ``SENT_AT_US`` is one of those: the device's own word.
- A publisher's user property with a reserved name comes as ``property-NAME`` (`kafka_envelope`): what is read under a
  reserved one is the broker's or the bridge's.
- ``MESSAGE_ID`` names the message: two records with the same one are the same message, handed on twice after a crash.
- ``CLIENT`` to ``INGRESS_US`` are there when the bridge's member is told of publishers (``lapwing-envelope``), else
  not.
- Records of the dead-letter topic carry ``REASON``, ``ERROR``, ``KAFKA_TOPIC`` and ``KAFKA_KEY`` besides, and ``PART``
  where a value was too large for one record: ``"2/3"`` is the second of three, in the same partition, in order.
"""

from __future__ import annotations

from enum import StrEnum

VERSION = 1

TOPIC = "lapwing-topic"
"""The MQTT topic; always there."""
FORWARDED_US = "lapwing-forwarded-us"
"""The bridge's clock as it handed the message to its Kafka client, in microseconds since the epoch; always there."""
RETAIN = "lapwing-retain"
"""``1``: the message was delivered as a retained one; else absent."""
CONTENT_TYPE = "lapwing-content-type"
RESPONSE_TOPIC = "lapwing-response-topic"
CORRELATION_DATA = "lapwing-correlation-data"

CLIENT = "lapwing-client"
"""The publisher's client id."""
SESSION = "lapwing-session"
"""Names the publisher's session: another session of the same client id has another."""
QOS = "lapwing-qos"
"""The quality of service that it was published with."""
MESSAGE_ID = "lapwing-message-id"
"""Names the message, for whoever gets it and however often."""
MESSAGE_ID_CHARS_MAX = 64
"""A broker's ids are not longer; text that is names nothing: a stranger's must not fill a reader's memory."""
INGRESS_US = "lapwing-ingress-us"
"""The broker's clock as it took the message in, in microseconds since the epoch."""

SENT_AT_US = "lapwing-sent-at-us"
"""The device's clock, a user property of its own; microseconds since the epoch."""

REASON = "lapwing-reason"
"""Why a message is a dead letter: a `Reason`."""
ERROR = "lapwing-error"
"""The same in words."""
KAFKA_TOPIC = "lapwing-kafka-topic"
"""The Kafka topic that a dead letter was meant for, or came from; absent where none could be named."""
KAFKA_KEY = "lapwing-kafka-key"
"""The key that a dead letter's record would have had, or had."""
PART = "lapwing-part"
"""``N/COUNT``: one part of a value that was too large for one record."""

KAFKA_POSITION = "lapwing-kafka-position"
"""User property of what comes from Kafka: ``TOPIC/PARTITION/OFFSET``; a repeat has the same."""

ENVELOPE = (CLIENT, SESSION, QOS, MESSAGE_ID, INGRESS_US)
"""User properties with which the broker tells a member who published: the first of a message, in this order."""

RESERVED = frozenset(
    (
        TOPIC,
        FORWARDED_US,
        RETAIN,
        CONTENT_TYPE,
        RESPONSE_TOPIC,
        CORRELATION_DATA,
        REASON,
        ERROR,
        KAFKA_TOPIC,
        KAFKA_KEY,
        PART,
    )
) | frozenset(ENVELOPE)
"""Names of headers that are never a publisher's user property."""


class Reason(StrEnum):
    """Why a message is a dead letter."""

    BAD_TOPIC = "bad-topic"
    """The rule's template makes a name that cannot be a topic of the other side."""
    TOO_MANY_TOPICS = "too-many-topics"
    """The rule's template would make more Kafka topics than the bridge may name."""
    NO_TOPIC = "no-topic"
    """After ``kafka.topic_wait`` the topic that the template names is not there, or the bridge may not write it."""
    TOO_LARGE = "too-large"
    """Kafka takes no record of that size."""
    INVALID = "invalid"
    """Kafka refuses the record for what it is, as one without a key in a compacted topic; or it can be no MQTT message:
    its headers are too many, too long, or cannot be read."""
    REFUSED = "refused"
    """The broker refuses to publish it."""
