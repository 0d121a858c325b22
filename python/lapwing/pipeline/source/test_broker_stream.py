"""Does a job without a checkpoint go on where its tables stand, also where that is the first offset?"""

from __future__ import annotations

import json

from lapwing.pipeline.source.broker_stream import _resumed
from lapwing.pipeline.source.job_source import Begun


def test_a_partition_that_was_whole_is_read_from_0_or_told() -> None:
    """And one that had lost its first messages before the job came, from the oldest that there is."""
    begun = Begun({0: 0, 1: 0, 2: 5}, {0: 0, 1: 3, 2: 9}, from_zero={0})
    told = _resumed(begun)
    assert json.loads(told["start"]) == {"0": 0, "2": 5}
    assert json.loads(told["until"]) == {"1": 3, "2": 9}


def test_where_nothing_has_begun_all_is_read() -> None:
    assert _resumed(Begun({0: 0}, {0: 0})) == {"start": "earliest"}
