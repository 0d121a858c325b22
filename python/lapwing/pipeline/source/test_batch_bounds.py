"""Does ``spark.read`` give the rows between ``start`` and ``until``, and refuse what is not there?"""

from __future__ import annotations

from typing import cast

import pytest

from lapwing.errors import OffsetAheadError
from lapwing.pipeline.errors import SealedError, unsealed
from lapwing.pipeline.source.client import PartitionState, StreamClient, StreamState
from lapwing.pipeline.source.datasource import _BatchReader, _Task
from lapwing.pipeline.source.options import SourceOptions

URL = "http://played:1/v1/streams/readings"


class PlayedBroker:
    """Two partitions; the first has lost its first ten messages."""

    def __enter__(self) -> PlayedBroker:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def state(self) -> StreamState:
        return StreamState("readings", "uuid", {0: PartitionState(10, 60), 1: PartitionState(0, 5)})


@pytest.fixture(autouse=True)
def broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SourceOptions, "client", lambda _: cast("StreamClient", PlayedBroker()))


def bounds(**given: str) -> dict[int, tuple[int, int]]:
    tasks = _BatchReader(SourceOptions.parse({"url": URL, "tasks": "1", **given})).partitions()
    return {task.part.partition: (task.part.start, task.part.end) for task in tasks if isinstance(task, _Task)}


def test_a_partition_that_is_not_named_is_read_from_the_oldest_to_the_end() -> None:
    assert bounds() == {0: (10, 60), 1: (0, 5)}
    assert bounds(start='{"0": 50}') == {0: (50, 60), 1: (0, 5)}
    assert bounds(until='{"0": 20}') == {0: (10, 20), 1: (0, 5)}
    assert bounds(start='{"0": 15, "1": 5}', until='{"0": 20}') == {0: (15, 20)}


def test_an_offset_that_retention_took_is_asked_for_so_that_it_is_told() -> None:
    assert bounds(start='{"0": 5}', until='{"1": 0}') == {0: (5, 60)}


@pytest.mark.parametrize("option", ["start", "until"])
@pytest.mark.parametrize(
    ("offsets", "told"),
    [('{"7": 5}', "offset 5 of partition 7, of which there are 2"), ('{"1": 6}', "partition 1, which ends at 5")],
)
def test_what_is_not_there_is_refused(option: str, offsets: str, told: str) -> None:
    with pytest.raises(SealedError) as caught:
        bounds(**{option: offsets})
    error = unsealed(caught.value, where=URL)
    assert isinstance(error, OffsetAheadError)
    assert f"the option {option} says" in str(error)
    assert told in str(error)
