"""What becomes of a record that Kafka did not take. Pure: an error in, a verdict out.

librdkafka has tried again by then whatever can be tried at once (a leader that moved, a broker that is down, a
time-out): for ever, and in order. What is left is decided here.
"""

from __future__ import annotations

from enum import Enum, auto

from confluent_kafka import KafkaError

from lapwing.contracts.kafka_record import Reason


class Verdict(Enum):
    """What to do with the record."""

    AGAIN = auto()
    """Send it again after a pause: somebody may make the topic, or grant the right."""
    ALONE = auto()
    """Send it again by itself: Kafka refuses batches for one of their records."""
    ANEW = auto()
    """Send it again at once, with others: Kafka refused its batch for another record, and said for which."""
    DEAD = auto()
    """It can never be taken: to the dead letters."""
    RESTART = auto()
    """The producer is at its end: make another, and send everything again that was not confirmed."""


_TOO_LARGE = frozenset((KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.RECORD_LIST_TOO_LARGE, KafkaError.INVALID_MSG_SIZE))
_INVALID = frozenset((KafkaError.INVALID_RECORD, KafkaError.INVALID_TIMESTAMP, KafkaError.TOPIC_EXCEPTION))
_NO_TOPIC = frozenset(
    (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError.TOPIC_AUTHORIZATION_FAILED)
)
_AT_ITS_END = frozenset(
    (
        KafkaError._FATAL,
        KafkaError._PURGE_QUEUE,
        KafkaError._PURGE_INFLIGHT,
        KafkaError._STATE,
        KafkaError._DESTROY,
        KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER,
        KafkaError.UNKNOWN_PRODUCER_ID,
        KafkaError.INVALID_PRODUCER_EPOCH,
    )
)


def verdict_of(code: int, *, alone: bool) -> Verdict:
    """What to do with a record that came back with this error.

    Args:
        code: As ``KafkaError.code()`` gives it.
        alone: It was sent by itself, so the error is its own.
    """
    if code in _AT_ITS_END:
        return Verdict.RESTART
    if code == KafkaError._INVALID_DIFFERENT_RECORD:
        return Verdict.ANEW
    if is_too_large(code) or code in _INVALID:
        return Verdict.DEAD if alone else Verdict.ALONE
    return Verdict.AGAIN


def reason_of(code: int) -> Reason:
    """The name under which a dead record goes to the dead letters."""
    if is_no_topic(code):
        return Reason.NO_TOPIC
    return Reason.TOO_LARGE if is_too_large(code) else Reason.INVALID


def is_too_large(code: int) -> bool:
    """Whether the record is larger than its topic takes, or its batch is."""
    return code in _TOO_LARGE


def is_no_topic(code: int) -> bool:
    """Whether the topic is missing, or may not be written."""
    return code in _NO_TOPIC
