"""Does a Spark task bring what lies in its range, all of it and nothing else, where messages are lost?"""

from __future__ import annotations

from typing import Any, cast

import pyarrow as pa
import pytest

from lapwing.contracts.envelope import ENVELOPE
from lapwing.pipeline.source.client import Slice, StreamClient
from lapwing.pipeline.source.datasource import _range, _Task
from lapwing.pipeline.source.offsets import Range
from lapwing.pipeline.source.options import SourceOptions

SCHEMA = ENVELOPE.arrow_schema()


class PlayedBroker:
    """A partition with these offsets; an answer has as many messages as were asked for, where there are so many."""

    def __init__(self, offsets: list[int]) -> None:
        self.offsets = offsets

    def read(self, _partition: int, start: int, *, rows_max: int, bytes_max: int) -> Slice:
        assert bytes_max
        found = [offset for offset in self.offsets if offset >= start][:rows_max]
        column = {"offset": pa.array(found, pa.int64())}
        columns = [column.get(field.name, pa.nulls(len(found), field.type)) for field in SCHEMA]
        return Slice("uuid", found[-1] + 1, [pa.RecordBatch.from_arrays(columns, schema=SCHEMA)])


def read(offsets: list[int], start: int, end: int, rows_per_request: int) -> list[int]:
    options = SourceOptions(url="http://played:1/v1/streams/r", rows_per_request=rows_per_request)
    broker: Any = PlayedBroker(offsets)
    batches = list(_range(options, cast("StreamClient", broker), _Task("uuid", Range(0, start, end))))
    assert all(batch.num_rows for batch in batches)
    return [offset for batch in batches for offset in batch.column("offset").to_pylist()]


@pytest.mark.parametrize("rows_per_request", [1, 4, 100])
@pytest.mark.parametrize("lost", [range(0), range(5, 7), range(8, 12), range(10), range(9, 13), range(10, 11)])
def test_what_two_tasks_read_is_each_message_once(lost: range, rows_per_request: int) -> None:
    there = [offset for offset in range(20) if offset not in lost]
    first, second = read(there, 0, 10, rows_per_request), read(there, 10, 20, rows_per_request)
    assert first == [offset for offset in there if offset < 10]
    assert second == [offset for offset in there if offset >= 10]
