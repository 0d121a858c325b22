"""Where to begin in a partition that Kafka cannot continue. Pure: offsets in, an offset out.

librdkafka would choose by itself and say nothing (``auto.offset.reset``), and skip what it should not: so it is told to
ask (``error``), and this answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple


class Start(NamedTuple):
    """Where to begin.

    Attributes:
        offset: The first record to carry.
        removed: Records that Kafka had removed before they were carried.
        words: What the operator is told; empty: nothing.
        is_first: The group has no offsets of this topic at all: it begins here.
        is_beyond: The group's offset is behind the end, and the partition may grow past it: this takes its place.
    """

    offset: int
    removed: int = 0
    words: str = ""
    is_first: bool = False
    is_beyond: bool = False


def start_of(
    partition: int, committed: Mapping[int, int], marks: tuple[int, int], start: Literal["earliest", "latest"]
) -> Start:
    """Where to begin.

    Args:
        partition: The one that cannot be continued.
        committed: By partition of the topic the group's offset, where it has one.
        marks: The first offset that is there, and the one behind the last.
        start: Where a group begins that has no offsets yet, or one behind the end: of a log that was cut short, say.
    """
    low, high = marks
    if (offset := committed.get(partition)) is None:
        if committed:
            # A partition that has been added: what is in it came while the group was at work.
            return Start(low)
        return Start(low if start == "earliest" else high, is_first=True)
    if low <= offset <= high:
        return Start(offset)
    if offset < low:
        words = f"offsets {offset} to {low - 1} were removed by Kafka before they were carried"
        return Start(low, low - offset, words)
    begins = low if start == "earliest" else high
    words = f"has no offset {offset}, the last is {high - 1}: it begins at {begins} (start = {start})"
    return Start(begins, words=words, is_beyond=True)
