"""Does a job without a checkpoint go on where its tables stand, also where that is the first offset?"""

from __future__ import annotations

import json
from unittest.mock import patch

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable

from lapwing.pipeline.errors import SealedError
from lapwing.pipeline.source.broker_stream import _resumed
from lapwing.pipeline.source.client import PartitionState, StreamState
from lapwing.pipeline.source.datasource import _StreamReader
from lapwing.pipeline.source.job_source import Begun
from lapwing.pipeline.source.options import SourceOptions


def test_a_partition_that_was_whole_is_read_from_0_or_told() -> None:
    """And one that had lost its first messages before the job came, from the oldest that there is."""
    begun = Begun({0: 0, 1: 0, 2: 5}, {0: 0, 1: 3, 2: 9}, from_zero={0})
    told = _resumed(begun)
    assert json.loads(told["start"]) == {"0": 0, "2": 5}
    assert json.loads(told["until"]) == {"1": 3, "2": 9}


def test_where_nothing_has_begun_all_is_read() -> None:
    assert _resumed(Begun({0: 0}, {0: 0})) == {"start": "earliest"}


def test_what_helps_where_the_stream_has_lost_its_end() -> None:
    """A new checkpoint does not: a job begins where its tables stand. New tables have met no stream."""

    def read_on(begun: Begun) -> object:
        options = {"url": "http://127.0.0.1:1/v1/streams/readings", **_resumed(begun)}
        reader = _StreamReader(SourceOptions.parse(options))
        state = StreamState("readings", "uuid", {0: PartitionState(0, 4)})
        with patch.object(reader, "_state", lambda: state):
            return reader.latestOffset(reader.initialOffset(), ReadAllAvailable())

    with pytest.raises(SealedError, match="a new --out and a new --checkpoint"):
        read_on(Begun({0: 10}, {0: 10}))
    assert read_on(Begun({0: 0}, {0: 0}, known=False)) == {"stream": "readings", "uuid": "uuid", "next": {"0": 4}}
