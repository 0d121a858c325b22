"""Are batches and tasks cut so that everything is read once and no partition waits for another?"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lapwing.pipeline.source.offsets import Positions, share, split

OFFSETS = st.dictionaries(st.integers(0, 7), st.tuples(st.integers(0, 1_000), st.integers(0, 1_000)), max_size=8)


@given(OFFSETS, st.none() | st.integers(1, 2_000))
def test_a_batch_takes_what_it_may_and_no_more(spans: dict[int, tuple[int, int]], rows_max: int | None) -> None:
    start = {p: a for p, (a, _) in spans.items()}
    end = {p: a + length for p, (a, length) in spans.items()}
    to = share(start, end, rows_max)
    assert all(start[p] <= to[p] <= end[p] for p in spans)
    backlog = sum(end[p] - start[p] for p in spans)
    assert sum(to[p] - start[p] for p in spans) == min(backlog, backlog if rows_max is None else rows_max)


def test_what_a_short_partition_leaves_goes_to_the_long_ones() -> None:
    assert share({0: 0, 1: 0, 2: 0}, {0: 10, 1: 1_000, 2: 1_000}, 110) == {0: 10, 1: 50, 2: 50}


def test_a_partition_that_shrank_stays_where_it_is() -> None:
    assert share({0: 50}, {0: 10}, None) == {0: 50}


@given(OFFSETS, st.integers(1, 300), st.integers(1, 8))
def test_tasks_cover_a_batch_once_and_in_order(spans: dict[int, tuple[int, int]], rows_min: int, tasks: int) -> None:
    start = {p: a for p, (a, _) in spans.items()}
    end = {p: a + length for p, (a, length) in spans.items()}
    ranges = split(start, end, rows_min=rows_min, tasks=tasks)
    read = [(part.partition, offset) for part in ranges for offset in range(part.start, part.end)]
    assert read == [(p, offset) for p in sorted(spans) for offset in range(start[p], end[p])]
    assert len(ranges) <= tasks + len(spans) * 2


def test_positions_survive_json_whatever_the_order() -> None:
    at = Positions("readings", "u", {10: 5, 2: 7})
    assert Positions.from_json(at.to_json()) == at
    assert list(at.to_json()["next"]) == ["2", "10"]
