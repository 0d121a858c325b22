"""Is the broker told what a query has done, no more and no less, and is a query that cannot tell it left alone?"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows

from lapwing.errors import ConnectError, StreamError
from lapwing.pipeline.source import named_reader
from lapwing.pipeline.source.client import PartitionState, StreamClient, StreamState
from lapwing.pipeline.source.datasource import _StreamReader
from lapwing.pipeline.source.named_reader import NamedReader
from lapwing.pipeline.source.offsets import Positions
from lapwing.pipeline.source.options import SourceOptions


class PlayedBroker:
    """Two partitions; what it was told stands in `told`, and where each reader is in `places`."""

    def __init__(self, *ends: int) -> None:
        self.held = {p: PartitionState(0, end) for p, end in enumerate(ends)}
        self.told: list[tuple[int, int]] = []
        self.places: dict[int, int] = {}
        self.refusal: Exception | None = None

    def state(self) -> StreamState:
        return StreamState("readings", "first", dict(self.held))

    def tell(self, reader: str, partition: int, done: int) -> None:
        assert reader == "spark"
        if self.refusal:
            raise self.refusal
        self.told.append((partition, done))
        self.places[partition] = done


@pytest.fixture
def broker() -> PlayedBroker:
    return PlayedBroker(201, 0)


def query(broker: PlayedBroker, reader: str = "spark") -> _StreamReader:
    made = _StreamReader(SourceOptions(url="http://played:1/v1/streams/readings", reader=reader))
    made._client = cast("StreamClient", broker)
    return made


def ask(reader: _StreamReader, at: dict[str, Any], rows_max: int = 0) -> dict[str, Any]:
    """As Spark, which does so when the batch that ends at ``at`` is written."""
    return reader.latestOffset(at, ReadMaxRows(rows_max) if rows_max else ReadAllAvailable())


def tell(reader: NamedReader, broker: PlayedBroker, done: Mapping[int, int]) -> None:
    reader.tell(cast("StreamClient", broker), done, broker.state())


def test_what_a_batch_may_still_fail_on_is_not_done(broker: PlayedBroker) -> None:
    """Half of its tasks may have run when the job is killed."""
    reader = query(broker)
    at = ask(reader, reader.initialOffset(), rows_max=100)
    assert Positions.from_json(at).next == {0: 100, 1: 0}
    assert broker.places == {0: 0, 1: 0}, "it watches from now on, and has read nothing"
    ask(reader, at, rows_max=100)
    assert broker.places == {0: 100, 1: 0}


def test_available_now_tells_its_end(broker: PlayedBroker) -> None:
    """Spark asks once more behind the last batch, and is answered that there is no other."""
    reader = query(broker)
    at = reader.initialOffset()
    reader.prepareForTriggerAvailableNow()
    at = ask(reader, at)
    broker.held[0] = PartitionState(0, 300)
    assert ask(reader, at) == at
    assert broker.places == {0: 201, 1: 0}


def test_what_it_knows_is_told_again_in_a_minute(broker: PlayedBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 1_000.0
    monkeypatch.setattr(named_reader, "time", SimpleNamespace(monotonic=lambda: now_s))
    reader = NamedReader("spark")
    for _ in range(5):
        tell(reader, broker, {0: 7, 1: 0})
        now_s += 10.0
    assert broker.told == [(0, 7), (1, 0)]
    tell(reader, broker, {0: 8, 1: 0})
    assert broker.told[2:] == [(0, 8)], "only what has moved"
    now_s += 10.0
    tell(reader, broker, {0: 8, 1: 0})
    assert broker.told[3:] == [(0, 8), (1, 0)]


def test_what_retention_has_left_nothing_of_is_nobody_s_to_read(broker: PlayedBroker) -> None:
    """The broker has warned of it, and answers 410 to whoever says such an offset."""
    broker.held[0] = PartitionState(150, 201)
    tell(NamedReader("spark"), broker, {0: 7, 1: 0})
    assert broker.places == {0: 150, 1: 0}


def test_without_a_name_nothing_is_told(broker: PlayedBroker) -> None:
    reader = query(broker, reader="")
    ask(reader, reader.initialOffset())
    assert broker.told == []


def test_a_query_goes_on_untold_and_says_so_once(broker: PlayedBroker, caplog: pytest.LogCaptureFixture) -> None:
    def lines() -> list[str]:
        return [record.getMessage() for record in caplog.records if record.name == named_reader.__name__]

    reader = query(broker)
    at = reader.initialOffset()
    with caplog.at_level(logging.WARNING):
        broker.refusal = ConnectError("reader spark is somebody else's", where="here", remedy="take another")
        for _ in range(3):
            assert Positions.from_json(ask(reader, at)).next == {0: 201, 1: 0}
        assert len(lines()) == 1
        assert "reader spark" in lines()[0]
        assert "somebody else's" in lines()[0]
        broker.refusal = StreamError("too many reads", where="here", remedy="wait")
        ask(reader, at)
        assert len(lines()) == 2
        broker.refusal = None
        ask(reader, at)
        assert broker.places == {0: 0, 1: 0}
        broker.refusal = StreamError("too many reads", where="here", remedy="wait")
        ask(reader, ask(reader, at))
        assert len(lines()) == 3
