"""How many messages were deleted before they were read: no more, and no fewer."""

from __future__ import annotations

from lapwing.pipeline.jobs.digest import Counts
from lapwing.pipeline.jobs.reach import trimmed


def test_every_offset_of_a_stream_is_a_message() -> None:
    counts = {0: Counts(rows=6, lowest=14, next=20), 1: Counts(rows=3, lowest=2, next=5)}
    assert trimmed({0: 10, 1: 2}, counts, oldest=None) == 4
    assert trimmed({}, counts, oldest=None) == 0
    assert trimmed({0: 0}, counts, oldest=None) == 14


def test_holes_of_kafka_are_no_loss_unless_its_log_begins_behind_them() -> None:
    """A commit mark at 10, aborted records, compacted offsets; and what retention has taken."""
    counts = {0: Counts(rows=2, lowest=14, next=20)}
    asked: list[int] = []

    def oldest_at(offset: int) -> int:
        return trimmed({0: 10}, counts, oldest=lambda: asked.append(offset) or {0: offset})  # type: ignore[func-returns-value]

    assert [oldest_at(offset) for offset in (0, 10, 12, 14, 17)] == [0, 0, 2, 4, 4]
    asked.clear()
    assert trimmed({0: 14}, counts, oldest=lambda: asked.append(1) or {}) == 0  # type: ignore[func-returns-value]
    assert trimmed({}, counts, oldest=lambda: asked.append(1) or {}) == 0  # type: ignore[func-returns-value]
    assert asked == []
