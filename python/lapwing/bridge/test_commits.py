"""Is a commit waited for as long as it may take, and no longer?"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from confluent_kafka import KafkaError, KafkaException, TopicPartition

from lapwing.bridge.commits import Commits

ENDS = [TopicPartition("t", 0, 5), TopicPartition("t", 1, 9)]
OLDER = [TopicPartition("t", 0, 4)]


class Bench:
    """Plays Kafka's consumer: each turn takes a second, and `turns` is what happens in each."""

    def __init__(self, *turns: Callable[[Commits], None]) -> None:
        self.turns = list(turns)
        self.time_s = 0.0
        self.refusal: KafkaError | None = None
        self.commits = Commits(self.serve, lambda: self.time_s)

    def serve(self) -> None:
        self.time_s += 1
        if self.turns:
            self.turns.pop(0)(self.commits)

    def commit(self, *, offsets: list[TopicPartition], asynchronous: bool) -> None:
        assert asynchronous
        if self.refusal is not None:
            raise KafkaException(self.refusal)

    def make(self) -> KafkaError | None:
        return self.commits.make(self, list(ENDS))


def nothing(_: Commits) -> None: ...


def test_an_answer_ends_the_wait() -> None:
    bench = Bench(nothing, lambda commits: commits.answered(None, list(reversed(ENDS))))
    assert bench.make() is None
    assert bench.time_s == 2


def test_the_answer_to_others_does_not() -> None:
    """Only that to an earlier try at the same offsets."""
    refusal = KafkaError(KafkaError.UNKNOWN_MEMBER_ID)
    bench = Bench(lambda commits: commits.answered(None, OLDER), lambda commits: commits.answered(refusal, ENDS))
    assert bench.make() is refusal


def test_what_is_wrong_with_one_partition_is_told() -> None:
    refusal = KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED)
    wrong: Any = SimpleNamespace(topic="t", partition=1, offset=9, error=refusal)
    bench = Bench(lambda commits: commits.answered(None, [ENDS[0], wrong]))
    assert bench.make() is refusal


def test_no_answer_is_a_failure() -> None:
    """However often it is asked: an answer that came in between is not taken for one to come."""
    bench = Bench()
    for _ in range(2):
        before = bench.time_s
        error = bench.make()
        assert error is not None
        assert error.code() == KafkaError._TIMED_OUT
        assert "no answer within 10 s" in error.str()
        assert bench.time_s - before == 10


def test_what_cannot_even_be_asked_is_told_at_once() -> None:
    bench = Bench()
    bench.refusal = KafkaError(KafkaError._STATE)
    assert bench.make() is bench.refusal
    assert bench.time_s == 0
