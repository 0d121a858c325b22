"""Is an offset committed when the broker has answered, and not before? Kafka and the broker are played here."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import TopicPartition

from lapwing.bridge import kafka_intake, mqtt_outlet
from lapwing.bridge.stopping import Stopping
from lapwing.bridge.to_mqtt import ToMqttLane
from lapwing.config.bridge import BridgeSection
from lapwing.errors import TimedOutError

RULE = {"name": "r", "topic": "t", "to": "commands/{key}"}


class PlayedRecord:
    """A record of partition 0."""

    def __init__(self, offset: int) -> None:
        self._offset = offset

    def error(self) -> None: ...

    def headers(self) -> list[tuple[str, bytes]]:
        return []

    def topic(self) -> str:
        return "t"

    def partition(self) -> int:
        return 0

    def offset(self) -> int:
        return self._offset

    def key(self) -> bytes:
        return b"k%d" % self._offset

    def value(self) -> bytes:
        return b"v"

    def timestamp(self) -> tuple[int, int]:
        return 0, 0


class Bench:
    """A lane between a Kafka with three records and a broker that takes its time to answer.

    Attributes:
        journal: What has happened, in order.
        silences: How often the broker is still asked in vain; then it answers.
        at_silence: Called each time.
        stopping: Ends the lane; after a commit by itself.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, silences: int) -> None:
        monkeypatch.setattr(kafka_intake, "made", self.made)
        monkeypatch.setattr(mqtt_outlet, "Publisher", lambda *_, **__: PlayedPublisher(self))
        self.journal: list[str] = []
        self.silences = silences
        self.at_silence: Callable[[], None] = lambda: None
        self.stopping = Stopping()
        self._records = [PlayedRecord(offset) for offset in (5, 6, 7)]
        bridge = BridgeSection.model_validate({"to_mqtt": [RULE]})
        self.lane = ToMqttLane(bridge, bridge.to_mqtt[0], 0, self.stopping, lambda _line: None)

    def made(self, *_: object, on_commit: Callable[..., None], **__: object) -> Bench:
        self._on_commit = on_commit
        return self

    # What follows is Kafka's consumer.

    def subscribe(self, _topics: list[str], *, on_assign: Any) -> None: ...

    def poll(self, _timeout_s: float) -> PlayedRecord | None:
        return self._records.pop(0) if self._records else None

    def consume(self, _most: int, _timeout_s: float) -> list[PlayedRecord]:
        taken, self._records = self._records, []
        return taken

    def assignment(self) -> list[TopicPartition]:
        return []

    def commit(self, *, offsets: list[TopicPartition], asynchronous: bool) -> None:
        assert asynchronous
        self.journal += [f"committed {each.partition}: {each.offset}" for each in offsets]
        self.stopping.drain()
        self._on_commit(None, offsets)

    def get_watermark_offsets(self, _partition: TopicPartition, *, cached: bool) -> tuple[int, int]:
        return 0, 8

    def close(self) -> None:
        self.journal.append("left")


class PlayedPublisher:
    """The broker's answers are the bench's."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self.counters = SimpleNamespace(phase="up", connections=1)

    def publish(self, topic: str, _payload: bytes, **_: object) -> None:
        self._bench.journal.append(topic)

    def flush(self, _timeout_s: float) -> None:
        if self._bench.silences == 0:
            self._bench.journal.append("answered")
            return
        self._bench.silences -= 1
        self._bench.journal.append("asked in vain")
        self._bench.at_silence()
        raise TimedOutError("no answer")

    def close(self, _timeout_s: float) -> None: ...

    def abort(self) -> None: ...


PUBLISHED = ["commands/k5", "commands/k6", "commands/k7"]


def test_offsets_are_committed_behind_the_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(monkeypatch, silences=3)
    bench.lane.run()
    in_vain = ["asked in vain"] * 3
    assert bench.journal == [*PUBLISHED, *in_vain, "answered", "committed 0: 8", "left"]
    assert (bench.lane.counts.messages, bench.lane.counts.in_flight) == (3, 0)


def test_what_the_broker_has_not_answered_is_never_committed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bridge ends meanwhile: the group goes on with the same records."""
    bench = Bench(monkeypatch, silences=2)
    bench.at_silence = bench.stopping.abandon
    bench.lane.run()
    assert bench.journal == [*PUBLISHED, "asked in vain", "left"]
    assert (bench.lane.counts.messages, bench.lane.counts.in_flight) == (0, 3)
