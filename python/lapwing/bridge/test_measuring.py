"""Is it known how far behind a lane is, also where Kafka answers slowly, and does the lane not stand still for it?"""

from __future__ import annotations

import math
from collections.abc import Collection

import pytest
from confluent_kafka import KafkaError, KafkaException

from lapwing.bridge.behind import Behind
from lapwing.bridge.measuring import Measuring


class PlayedKafka:
    """Each partition has ten records, of which the group has done three; an answer takes its time."""

    def __init__(self, answer_s: float) -> None:
        self.answer_s = answer_s
        self.now_s = 0.0
        self.spent_s = 0.0
        self.behind = Behind()
        self.measuring = Measuring(self.behind, self.marks, self.committed, lambda: self.now_s)

    def marks(self, _partition: int, timeout_s: float) -> tuple[int, int]:
        self._answer(timeout_s)
        return 0, 10

    def committed(self, partitions: Collection[int], timeout_s: float) -> dict[int, int]:
        self._answer(timeout_s)
        return dict.fromkeys(partitions, 3)

    def _answer(self, timeout_s: float) -> None:
        took_s = min(self.answer_s, timeout_s)
        self.now_s += took_s
        self.spent_s += took_s
        if self.answer_s > timeout_s:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))

    def run(self, partitions: int, seconds: float) -> float:
        """The lane lives for so long; gives the longest time that it stood still."""
        until_s, longest_s = self.now_s + seconds, 0.0
        while self.now_s < until_s:
            self.now_s += 0.25
            before_s = self.now_s
            if self.measuring.is_due:
                self.measuring.measure(range(partitions))
            longest_s = max(longest_s, self.now_s - before_s)
        return longest_s


@pytest.mark.parametrize("answer_s", [0.001, 0.4, 0.9])
def test_a_slow_kafka_is_measured_too(answer_s: float) -> None:
    kafka = PlayedKafka(answer_s)
    assert kafka.behind.records == -1
    kafka.run(2, 60.0)
    assert kafka.behind.records == 14


def test_many_partitions_get_their_turn_and_the_lane_goes_on() -> None:
    kafka = PlayedKafka(0.4)
    assert kafka.run(20, 300.0) <= 3
    assert kafka.behind.records == 140
    assert kafka.spent_s <= 0.1 * kafka.now_s


def test_of_a_kafka_that_is_away_what_is_known_stands() -> None:
    kafka = PlayedKafka(0.001)
    kafka.run(2, 1.0)
    kafka.answer_s = math.inf
    assert kafka.run(2, 300.0) <= 1
    assert kafka.behind.records == 14
    assert kafka.spent_s <= 0.1 * kafka.now_s


def test_partitions_that_others_have_now_are_theirs() -> None:
    kafka = PlayedKafka(0.001)
    kafka.run(2, 1.0)
    kafka.run(1, 10.0)
    assert kafka.behind.records == 7
