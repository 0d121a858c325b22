"""Where a job begins in a source that its tables do not know yet."""

from __future__ import annotations

from collections.abc import Mapping

from lapwing.errors import OffsetAheadError
from lapwing.pipeline.source.client import StreamState


def first_positions(start: str, given: Mapping[int, int] | None, state: StreamState, where: str) -> dict[int, int]:
    """Per partition the first offset to read; 0: the oldest that there is.

    Args:
        start: The option: ``earliest``, ``latest`` or JSON.
        given: What the JSON says; None for a word.
        state: What the source holds.
        where: For errors.

    Raises:
        OffsetAheadError: An offset that was given is not there yet: written down, it would stay wrong for good.
    """
    if start == "latest":
        return {partition: held.next_offset for partition, held in state.partitions.items()}
    wanted = given or {}
    for partition, offset in wanted.items():
        held = state.partitions.get(partition)
        ends = held.next_offset if held else 0
        if held is None or offset > ends:
            raise OffsetAheadError(
                f"the option start says offset {offset} of partition {partition}, which ends at {ends}",
                where=where,
                remedy="give offsets that are there",
                next_offset=ends,
            )
    return {partition: wanted.get(partition, 0) for partition in state.partitions}
