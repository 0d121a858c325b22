"""Where does a job begin that knows nothing of its source?"""

from __future__ import annotations

import pytest

from lapwing.errors import OffsetAheadError
from lapwing.pipeline.source.client import PartitionState, StreamState
from lapwing.pipeline.source.first_positions import first_positions

STATE = StreamState("readings", "uuid", {0: PartitionState(3, 10), 1: PartitionState(0, 0)})


def test_words_and_offsets() -> None:
    assert first_positions("earliest", None, STATE, "here") == {0: 0, 1: 0}
    assert first_positions("latest", None, STATE, "here") == {0: 10, 1: 0}
    assert first_positions("json", {0: 5}, STATE, "here") == {0: 5, 1: 0}


@pytest.mark.parametrize("given", [{0: 11}, {2: 0}])
def test_what_is_not_there_is_not_written_down(given: dict[int, int]) -> None:
    with pytest.raises(OffsetAheadError, match="option start"):
        first_positions("json", given, STATE, "here")


def test_a_partition_that_is_none_is_told_so() -> None:
    with pytest.raises(OffsetAheadError, match="offset 4 of partition 7, of which there are 2"):
        first_positions("json", {7: 4}, STATE, "here")
