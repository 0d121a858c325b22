"""What does the sink do with what Kafka says? Kafka's client is played here; tests/bridge has a real one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from lapwing.bridge import sink as room
from lapwing.bridge.counts import Counts, prometheus_text
from lapwing.bridge.record import DeadLetter, Record
from lapwing.bridge.sink import KafkaSink
from lapwing.bridge.stopping import Abandoned, Stopping, Waiting
from lapwing.config.bridge_sides import BridgeKafka
from lapwing.contracts.kafka_record import Reason

Verdicts = dict[bytes, list[int]]
"""By value: what is answered to it, one after the other; then it is taken."""


class Cluster:
    """What all producers of a test have in common."""

    def __init__(
        self,
        verdicts: Verdicts | None = None,
        fatal_flushes: int = 0,
        is_down: bool = False,
        refusals: Verdicts | None = None,
    ) -> None:
        self.verdicts = verdicts or {}
        self.refusals = refusals or {}
        self.fatal_flushes = fatal_flushes
        self.is_down = is_down
        self.taken: list[tuple[str, bytes]] = []
        self.producers = 0

    def producer(self, _kind: object, settings: dict[str, object], **_heard_by: object) -> Any:
        self.producers += 1
        return PlayedProducer(self, is_alone=settings["batch.num.messages"] == 1)

    def codes(self, records: Sequence[tuple[str, bytes]]) -> list[int | None]:
        """What is answered to those that were sent together."""
        answers = [self.verdicts.get(value) for _, value in records]
        return [each.pop(0) if each else None for each in answers]


class Judge(Cluster):
    """Answers to batches as Kafka does: takes all of it, or nothing for what one of them is."""

    def __init__(self, *, large: Collection[bytes] = (), invalid: Collection[bytes] = (), most: int = 1_000) -> None:
        super().__init__()
        self.large, self.invalid, self.most = large, invalid, most
        self.names_the_invalid = False
        self.sent: Counter[bytes] = Counter()
        self.batches: list[list[bytes]] = []

    def codes(self, records: Sequence[tuple[str, bytes]]) -> list[int | None]:
        self.sent.update(value for _, value in records)
        self.batches.append([value for _, value in records])
        # Dead letters are for another topic, so in another batch.
        codes = iter(self._judged([value for topic, value in records if topic == "t"]))
        return [next(codes) if topic == "t" else None for topic, _ in records]

    def _judged(self, values: Sequence[bytes]) -> Sequence[int | None]:
        if any(value in self.large for value in values) or len(values) > self.most:
            return [KafkaError.MSG_SIZE_TOO_LARGE] * len(values)
        if any(value in self.invalid for value in values):
            other = KafkaError._INVALID_DIFFERENT_RECORD if self.names_the_invalid else KafkaError.INVALID_RECORD
            return [KafkaError.INVALID_RECORD if value in self.invalid else other for value in values]
        return [None] * len(values)


class PlayedProducer:
    def __init__(self, cluster: Cluster, *, is_alone: bool) -> None:
        self._cluster, self._is_alone = cluster, is_alone
        self._left: list[tuple[str, bytes, Callable[[Any, Any], None]]] = []

    def __len__(self) -> int:
        return len(self._left)

    def produce(self, topic: str, value: bytes, _key: Any, *, headers: Any, on_delivery: Any) -> None:
        if self._is_alone:
            self.flush(0)
        if refusals := self._cluster.refusals.get(value):
            raise KafkaException(KafkaError(refusals.pop(0)))
        self._left.append((topic, value, on_delivery))

    def flush(self, _timeout_s: float) -> int:
        if self._cluster.fatal_flushes:
            self._cluster.fatal_flushes -= 1
            cause = KafkaException(KafkaError(KafkaError.CLUSTER_AUTHORIZATION_FAILED, "no", fatal=True))
            raise SystemError("flush returned a result with an exception set") from cause
        if self._cluster.is_down:
            return len(self._left)
        left, self._left = self._left, []
        codes = self._cluster.codes([(topic, value) for topic, value, _ in left])
        for (topic, value, on_delivery), code in zip(left, codes, strict=True):
            if code is None:
                self._cluster.taken.append((topic, value))
            else:
                on_delivery(KafkaError(code), None)
        return 0

    def purge(self) -> None:
        left, self._left = self._left, []
        for _, _, on_delivery in left:
            on_delivery(KafkaError(KafkaError._PURGE_QUEUE), None)


class Bench:
    """A sink on a cluster that is played."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, cluster: Cluster, topic_wait_s: float | None = None) -> None:
        monkeypatch.setattr(room, "made", cluster.producer)
        self.cluster = cluster
        self.said: list[str] = []
        self.stopping = Stopping()
        self.counts = Counts("r", "to_kafka")
        kafka = BridgeKafka.model_validate({"retry": "10ms"})
        self.sink = KafkaSink(
            kafka,
            self.stopping,
            Waiting("rule r", self.said.append),
            self.counts,
            topic_wait_s=topic_wait_s,
            is_strange=lambda topic: topic != "t",
        )

    def carry(self, *values: bytes) -> list[tuple[str, bytes]]:
        self.sink.carry([Record("t", None, value, []) for value in values], lambda: None)
        return self.cluster.taken


def test_what_is_taken_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(monkeypatch, Cluster())
    assert bench.carry(b"1", b"2") == [("t", b"1"), ("t", b"2")]
    assert bench.said == []


def test_a_missing_topic_is_asked_for_again_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = KafkaError.UNKNOWN_TOPIC_OR_PART
    bench = Bench(monkeypatch, Cluster({b"1": [missing, missing], b"2": [missing]}))
    assert bench.carry(b"1", b"2") == [("t", b"1"), ("t", b"2")]
    assert bench.counts.retries == 4
    assert len(bench.said) == 2, "that it waits, and that it goes on"


def test_a_topic_that_is_made_meanwhile_takes_nothing_out_of_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """librdkafka learns that the topic is there while the batch is handed to it: does what is behind stay behind?"""
    missing = KafkaError._UNKNOWN_TOPIC
    bench = Bench(monkeypatch, Cluster(refusals={b"1": [missing], b"2": [missing]}))
    assert bench.carry(b"1", b"2", b"3", b"4") == [("t", b"%d" % number) for number in (1, 2, 3, 4)]


def test_a_right_that_is_granted_meanwhile_lets_nothing_overtake(monkeypatch: pytest.MonkeyPatch) -> None:
    """A topic that refused: does only its first record ask, in this batch and the next, while others go on?"""
    no = KafkaError.TOPIC_AUTHORIZATION_FAILED
    cluster = Cluster({b"1": [no, no, no], b"2": [no], b"3": [no]})
    bench = Bench(monkeypatch, cluster)
    records = [Record("u" if value == b"2" else "t", None, value, []) for value in (b"1", b"2", b"3", b"4")]
    cluster.verdicts[b"4"] = [no]
    bench.sink.carry(records, lambda: None)
    assert cluster.taken == [("u", b"2"), ("t", b"1"), ("t", b"3"), ("t", b"4")]


def test_a_topic_that_a_device_chose_is_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Is what is for it a dead letter after a while, and then at once, while the others are carried?"""
    missing = KafkaError.UNKNOWN_TOPIC_OR_PART
    bench = Bench(monkeypatch, Cluster({b"1": [missing] * 3, b"3": [missing]}), topic_wait_s=0.015)
    assert sorted(bench.carry(b"1", b"2")) == [("lapwing-dead-letters", b"1"), ("t", b"2")]
    assert bench.counts.retries == 2
    assert ("lapwing-dead-letters", b"3") in bench.carry(b"3")
    assert bench.counts.dead_letters == {"no-topic": 2}


def test_what_was_given_up_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """One too many to be waited for, too: is it told of, and does it wait for nothing?"""
    no = KafkaError.UNKNOWN_TOPIC_OR_PART
    names = [f"made-up-{number}" for number in range(12)]
    bench = Bench(monkeypatch, Cluster(), topic_wait_s=3_600.0)
    monkeypatch.setattr(bench.cluster, "codes", lambda sent: [no if topic in names else None for topic, _ in sent])
    bench.sink._refusing.refuse(names[:10])
    records = [Record(name, None, name.encode(), []) for name in names[10:]]
    assert bench.sink.carry([*records, Record("t", None, b"1", [])], lambda: None) == set(names[10:])
    assert bench.sink.carry([Record("t", None, b"2", [])], lambda: None) == set()


def test_one_bad_record_of_a_batch_is_dead_and_the_others_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    invalid = KafkaError.INVALID_RECORD
    bench = Bench(monkeypatch, Cluster({b"1": [invalid], b"2": [invalid, invalid], b"3": [invalid]}))
    taken = bench.carry(b"1", b"2", b"3")
    assert sorted(taken) == [("lapwing-dead-letters", b"2"), ("t", b"1"), ("t", b"3")]
    assert bench.counts.dead_letters == {"invalid": 1}
    assert 'reason="invalid"} 1' in prometheus_text([bench.counts])


MANY = [b"%d" % number for number in range(100)]


@pytest.mark.parametrize("is_named", [False, True])
def test_who_was_refused_with_an_invalid_record_goes_at_once_and_together(
    monkeypatch: pytest.MonkeyPatch, is_named: bool
) -> None:
    """It is found by its missing key, or Kafka names it: do the others stay a batch, in order, and wait for nothing?"""
    cluster = Judge(invalid=[b"50"])
    cluster.names_the_invalid = is_named
    bench = Bench(monkeypatch, cluster)
    good = [value for value in MANY if value != b"50"]
    bench.sink.carry([Record("t", None if value == b"50" else "k", value, []) for value in MANY], lambda: None)
    assert [value for topic, value in cluster.taken if topic == "t"] == good
    assert {cluster.sent[value] for value in good} == {2}
    assert (bench.counts.dead_letters, bench.counts.retries, bench.said) == ({"invalid": 1}, 1, [])


def test_an_invalid_record_that_nothing_tells_from_the_others_is_found_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = Bench(monkeypatch, Judge(invalid=[b"50"]))
    taken = bench.carry(*MANY)
    assert sorted(value for topic, value in taken if topic == "t") == sorted(set(MANY) - {b"50"})
    assert bench.counts.dead_letters == {"invalid": 1}


def test_who_was_refused_with_a_large_record_goes_at_once_and_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """And when there is a large one again, does it spoil no batch any more?"""
    large = [b"x" * 2_000, b"y" * 3_000]
    cluster = Judge(large=large)
    bench = Bench(monkeypatch, cluster)
    bench.carry(*MANY, large[0])
    assert [value for topic, value in cluster.taken if topic == "t"] == MANY
    assert {cluster.sent[value] for value in MANY} == {2}
    assert bench.counts.retries == 1
    bench.carry(*MANY, large[1])
    assert {cluster.sent[value] for value in MANY} == {3}
    assert bench.counts.dead_letters == {"too-large": 2}
    assert cluster.sent[large[1]] == 2, "once for its topic, once as a letter"


def test_a_small_value_with_large_headers_makes_no_other_record_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused by itself, and those of the next batch, whose values are no smaller, go together."""
    cluster = Judge(large=[b"-"])
    bench = Bench(monkeypatch, cluster)
    bench.sink.carry([Record("t", None, b"-", [("note", "x" * 100_000)])], lambda: None)
    bench.carry(*MANY)
    assert MANY in cluster.batches
    assert bench.counts.dead_letters == {"too-large": 1}


def test_the_one_with_large_headers_is_found_in_its_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Judge(large=[b"-"])
    bench = Bench(monkeypatch, cluster)
    bench.sink.carry(
        [*(Record("t", None, value, []) for value in MANY), Record("t", None, b"-", [("note", "x" * 100_000)])],
        lambda: None,
    )
    assert {cluster.sent[value] for value in MANY} == {2}
    assert bench.counts.retries == 1


def test_parts_of_a_letter_stay_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their batch is too large for the dead letters' topic, and they are not of one size."""
    parts = [b"a" * 1_024, b"b" * 1_024, b"c" * 9]
    bench = Bench(monkeypatch, Cluster({part: [KafkaError.MSG_SIZE_TOO_LARGE] for part in parts}))
    monkeypatch.setattr(room, "part_bytes_of", lambda *_: 1_024)
    bench.sink.carry([DeadLetter(Record("t", None, b"".join(parts), []), Reason.TOO_LARGE, "")], lambda: None)
    assert [value for _, value in bench.cluster.taken] == parts


def test_a_topic_that_takes_more_by_now_is_found_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is as large as one that was refused goes alone, once."""
    large = b"x" * 2_000
    cluster = Judge(large=[large])
    bench = Bench(monkeypatch, cluster)
    bench.carry(b"1", large)
    cluster.large = ()
    bench.carry(b"2", large)
    bench.carry(b"3", large)
    assert [b"2", large] not in cluster.batches
    assert [b"3", large] in cluster.batches


def test_a_batch_that_is_too_large_by_itself_goes_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Judge(most=10)
    bench = Bench(monkeypatch, cluster)
    assert sorted(value for _, value in bench.carry(*MANY)) == sorted(MANY)
    assert max(cluster.sent.values()) == 3
    assert not bench.counts.dead_letters


def test_a_dead_letter_that_is_refused_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    large = KafkaError.MSG_SIZE_TOO_LARGE
    bench = Bench(monkeypatch, Cluster({b"1": [large, large, large, large]}))
    assert bench.carry(b"1") == [("lapwing-dead-letters", b"1")]
    assert bench.counts.dead_letters == {"too-large": 1}


def test_a_producer_at_its_end_is_replaced_and_all_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(monkeypatch, Cluster(fatal_flushes=1))
    assert bench.carry(b"1", b"2") == [("t", b"1"), ("t", b"2")]
    assert bench.counts.restarts == 1
    assert bench.cluster.producers == 2
    assert "no" in bench.said[0]


def test_the_end_of_the_bridge_ends_every_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(monkeypatch, Cluster(is_down=True))
    bench.stopping.abandon()
    with pytest.raises(Abandoned):
        bench.carry(b"1")


def test_what_is_wrong_is_told_also_where_it_is_known_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """First nobody knows more than that nothing is confirmed."""
    monkeypatch.setattr(room, "_PATIENCE_S", 0.0)
    bench = Bench(monkeypatch, Cluster(is_down=True))
    refused = KafkaError(KafkaError._TRANSPORT, "127.0.0.1:9092/bootstrap: Connect failed: Connection refused")
    turns = iter(("nothing", "an error", "an answer"))

    def alive() -> None:
        turn = next(turns)
        if turn == "an error":
            bench.sink._on_error(refused)
        bench.cluster.is_down = turn != "an answer"

    bench.sink.carry([Record("t", None, b"1", [])], alive)
    vague, exact, over = bench.said
    assert "has not confirmed" in vague
    assert "Connection refused" in exact
    assert "goes on" in over
