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
    check_offsets("start", wanted, state, where)
    return {partition: wanted.get(partition, 0) for partition in state.partitions}


def check_offsets(option: str, given: Mapping[int, int], state: StreamState, where: str) -> None:
    """Whether each offset that the option gives is there, or is the next to come.

    Raises:
        OffsetAheadError: The option, the partition, and where that ends.
    """
    for partition, offset in given.items():
        held = state.partitions.get(partition)
        if held is not None and offset <= held.next_offset:
            continue
        count = len(state.partitions)
        told = f"which ends at {held.next_offset}" if held else f"of which there are {count}, counted from 0"
        raise OffsetAheadError(
            f"the option {option} says offset {offset} of partition {partition}, {told}",
            where=where,
            remedy="give offsets that are there",
            next_offset=held.next_offset if held else 0,
        )
