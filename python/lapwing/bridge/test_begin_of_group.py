"""Does a group begin once, where its members begin at the same time and records come? Kafka is played here."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, TopicPartition

from lapwing.bridge import kafka_intake, topic_ids
from lapwing.bridge.counts import Counts
from lapwing.bridge.kafka_intake import KafkaIntake
from lapwing.bridge.stopping import Stopping, Waiting
from lapwing.config.bridge import BridgeSection


class PlayedKafka:
    """A topic of two partitions, of which this member has 0; a record comes whenever its end is asked for.

    Attributes:
        others: What another member commits before offsets are asked for so many times.
        commits: Those of this member.
        begun: Where it reads on, by partition.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, start: str, others: dict[int, dict[int, int]]) -> None:
        monkeypatch.setattr(kafka_intake, "made", self.made)
        monkeypatch.setattr(topic_ids, "made", self.made)
        self.offsets: dict[int, int] = {}
        self.commits: list[dict[int, int]] = []
        self.begun: dict[int, int] = {}
        self.others = others
        self._answer: Any = None
        self._asked = 0
        self._end = 10
        rule = {"name": "r", "topic": "t", "to": "commands/{key}", "start": start}
        bridge = BridgeSection.model_validate({"to_mqtt": [rule]})
        said: list[str] = []
        stopping, waiting = Stopping(), Waiting("rule r", said.append)
        counts = Counts("r", "to_mqtt")
        self.intake = KafkaIntake(bridge.kafka, bridge.to_mqtt[0], stopping, waiting, counts, said.append)
        self._news: list[Any] = [SimpleNamespace(error=lambda: NO_OFFSET, partition=lambda: 0)]

    def made(self, *_: object, **heard_by: Any) -> PlayedKafka:
        self._answer = heard_by.get("on_commit", self._answer)
        return self

    # What follows is Kafka's consumer, and its client that knows ids.

    def describe_topics(self, _topics: object, **_: object) -> dict[str, Any]:
        return {"t": SimpleNamespace(result=lambda: SimpleNamespace(topic_id="id"))}

    def poll(self, _timeout_s: float) -> Any:
        return self._news.pop() if self._news else None

    def consume(self, _most: int, _timeout_s: float) -> list[Any]:
        return []

    def assignment(self) -> list[TopicPartition]:
        return [TopicPartition("t", 0)]

    def list_topics(self, *_: object, **__: object) -> Any:
        return SimpleNamespace(topics={"t": SimpleNamespace(partitions={0: None, 1: None}, error=None)})

    def committed(self, asked: list[TopicPartition], **_: object) -> list[TopicPartition]:
        self._asked += 1
        self.offsets |= self.others.get(self._asked, {})
        return [TopicPartition("t", each.partition, self.offsets.get(each.partition, -1001)) for each in asked]

    def get_watermark_offsets(self, _partition: TopicPartition, **_: object) -> tuple[int, int]:
        self._end += 1
        return 0, self._end

    def commit(self, *, offsets: list[TopicPartition], asynchronous: bool) -> None:
        assert asynchronous
        self.commits.append({each.partition: each.offset for each in offsets})
        self.offsets |= self.commits[-1]
        self._answer(None, offsets)

    def incremental_unassign(self, _partitions: list[TopicPartition]) -> None: ...

    def incremental_assign(self, partitions: list[TopicPartition]) -> None:
        self.begun |= {each.partition: each.offset for each in partitions}


NO_OFFSET = KafkaError(KafkaError._AUTO_OFFSET_RESET)


def test_it_reads_on_where_it_has_committed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A crash before the next commit loses nothing that came in between."""
    kafka = PlayedKafka(monkeypatch, "latest", {})
    kafka.intake.take(10)
    assert set(kafka.offsets) == {0, 1}
    assert kafka.begun == {0: kafka.offsets[0]}


@pytest.mark.parametrize("start", ["earliest", "latest"])
def test_what_another_member_has_committed_meanwhile_stays(monkeypatch: pytest.MonkeyPatch, start: str) -> None:
    """It may have carried up to there, and no further, or up to there already."""
    kafka = PlayedKafka(monkeypatch, start, {3: {1: 7}})
    kafka.intake.take(10)
    assert kafka.offsets[1] == 7
    assert [set(each) for each in kafka.commits] == [{0}]
    assert kafka.begun == {0: kafka.offsets[0]}


def test_it_reads_on_where_another_member_has_begun_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    kafka = PlayedKafka(monkeypatch, "latest", {3: {0: 5, 1: 7}})
    kafka.intake.take(10)
    assert kafka.commits == []
    assert kafka.begun == {0: 5}


@pytest.mark.parametrize(("start", "begins"), [("earliest", 0), ("latest", 11)])
def test_an_offset_behind_the_end_is_no_place_to_go_on(
    monkeypatch: pytest.MonkeyPatch, start: str, begins: int
) -> None:
    """Kafka's log was cut short, or somebody else committed: is `start` obeyed, and the offset replaced?"""
    kafka = PlayedKafka(monkeypatch, start, {1: {0: 52, 1: 3}})
    kafka.intake.take(10)
    assert kafka.begun == {0: begins}
    assert kafka.commits == [{0: begins}]
