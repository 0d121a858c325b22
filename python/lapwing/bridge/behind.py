"""How many records of Kafka a lane has before it."""

from __future__ import annotations

from collections.abc import Collection, Mapping


class Behind:
    """By partition where the lane is and where the topic ends, as far as that is known."""

    def __init__(self) -> None:
        self._done: dict[int, int] = {}
        self._ends: dict[int, int] = {}

    @property
    def records(self) -> int:
        """In all partitions whose place and end are known; -1: in none."""
        known = self._done.keys() & self._ends.keys()
        return sum(max(0, self._ends[each] - self._done[each]) for each in known) if known else -1

    def keep(self, partitions: Collection[int]) -> None:
        """The others have gone to other members, who count them now."""
        for known in (self._done, self._ends):
            for partition in known.keys() - set(partitions):
                del known[partition]

    def done(self, offsets: Mapping[int, int]) -> None:
        """By partition the offset behind the last record that was carried."""
        self._done |= offsets

    def ends(self, offsets: Mapping[int, int]) -> None:
        """By partition the offset behind the last record that there is."""
        self._ends |= offsets
