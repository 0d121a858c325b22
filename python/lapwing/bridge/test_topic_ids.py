"""Is it seen that a topic was made again, whoever of a group carries a partition and whatever Kafka answers?"""

from __future__ import annotations

from collections.abc import Collection

import pytest
from confluent_kafka import KafkaError, KafkaException

from lapwing.bridge.topic_ids import TopicIds, metadata_of, topic_id_in


class PlayedKafka:
    """A topic and what a group has committed in it; a member asks.

    Attributes:
        topic_id: Empty: Kafka does not answer.
        metadata: Of the commits, by partition.
    """

    def __init__(self, topic_id: str = "old", metadata: dict[int, str] | None = None) -> None:
        self.topic_id = topic_id
        self.metadata = metadata or {}
        self.is_away = False
        self.now_s = 1000.0
        self.asked = 0
        self.ids = TopicIds(self.ask, self.committed, lambda: self.now_s)

    def ask(self) -> str:
        self.asked += 1
        return self.topic_id

    def committed(self, partitions: Collection[int]) -> dict[int, str]:
        if self.is_away:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
        return {each: found for each in partitions if (found := topic_id_in(self.metadata.get(each)))}

    def remade(self, *assigned: int) -> set[int]:
        self.now_s += 10
        return self.ids.remade(assigned)

    def commit(self, *partitions: int) -> None:
        self.metadata |= {each: self.ids.metadata(each) for each in partitions}


def test_a_topic_that_is_made_again_is_seen_until_it_is_begun() -> None:
    kafka = PlayedKafka()
    assert kafka.remade(0, 1) == set()
    kafka.topic_id = "new"
    assert kafka.remade(0, 1) == kafka.remade(0, 1) == {0, 1}
    kafka.ids.begun({0, 1}, lambda: kafka.commit(0, 1))
    assert kafka.remade(0, 1) == set()
    assert kafka.metadata == {0: metadata_of("new"), 1: metadata_of("new")}


def test_a_commit_that_fails_leaves_it_to_be_begun() -> None:
    kafka = PlayedKafka()
    kafka.remade(0)
    kafka.topic_id = "new"
    kafka.remade(0)

    def fail() -> None:
        raise KafkaException(KafkaError(KafkaError._TIMED_OUT))

    with pytest.raises(KafkaException):
        kafka.ids.begun({0}, fail)
    assert kafka.ids.metadata(0) == metadata_of("old")
    assert kafka.remade(0) == {0}


@pytest.mark.parametrize(("metadata", "expected"), [("old", {0}), ("new", set()), ("", set())])
def test_who_has_just_come_knows_it_from_the_commit(metadata: str, expected: set[int]) -> None:
    """A commit that names no topic is of an older bridge: it counts."""
    kafka = PlayedKafka("new", {0: metadata_of(metadata)})
    assert kafka.remade(0) == expected


def test_a_partition_that_others_began_anew_goes_on() -> None:
    kafka = PlayedKafka()
    kafka.remade(0, 1)
    kafka.topic_id, kafka.metadata = "new", {1: metadata_of("new")}
    kafka.ids.forget([1])
    assert kafka.remade(0, 1) == {0}


def test_kafka_deletes_offsets_with_their_topic() -> None:
    """The partition went with the topic and came with the new one, in which the group has none."""
    kafka = PlayedKafka()
    kafka.remade(0)
    kafka.remade()
    kafka.topic_id = "new"
    assert kafka.remade(0) == {0}


def test_without_an_answer_all_goes_on_and_nothing_is_taken_for_known() -> None:
    kafka = PlayedKafka("", {0: metadata_of("old")})
    assert kafka.remade(0, 1) == set()
    kafka.commit(0, 1)
    assert kafka.metadata == {0: metadata_of("old"), 1: ""}
    kafka.topic_id = "new"
    assert kafka.remade(0, 1) == {0}


def test_what_cannot_be_known_of_a_partition_is_asked_again() -> None:
    kafka = PlayedKafka("new", {0: metadata_of("old")})
    kafka.is_away = True
    with pytest.raises(KafkaException):
        kafka.remade(0)
    kafka.is_away = False
    assert kafka.remade(0) == {0}


def test_kafka_is_asked_now_and_then() -> None:
    """And at once when partitions have come."""
    kafka = PlayedKafka()
    for _ in range(100):
        kafka.ids.remade({0})
    assert kafka.asked == 1
    kafka.ids.remade({0, 1})
    assert kafka.asked == 2
    kafka.now_s += 5
    kafka.ids.remade({0, 1})
    assert kafka.asked == 3
