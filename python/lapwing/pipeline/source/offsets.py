"""Positions in a stream, and how a batch and its tasks share out what has arrived. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Positions:
    """Per partition the next offset to read, of the stream with that UUID."""

    stream: str
    uuid: str
    next: Mapping[int, int]

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> Positions:
        """As Spark hands back what `to_json` made."""
        next_offsets = {int(partition): int(offset) for partition, offset in said["next"].items()}
        return cls(str(said["stream"]), str(said["uuid"]), next_offsets)

    def to_json(self) -> dict[str, Any]:
        """For Spark's checkpoint; the order is fixed, for Spark compares the text."""
        ordered = {str(partition): self.next[partition] for partition in sorted(self.next)}
        return {"stream": self.stream, "uuid": self.uuid, "next": ordered}

    def moved(self, to: Mapping[int, int]) -> Positions:
        """The same stream, elsewhere."""
        return Positions(self.stream, self.uuid, dict(to))


@dataclass(frozen=True, slots=True)
class Range:
    """Offsets ``start <= offset < end`` of one partition: one Spark task."""

    partition: int
    start: int
    end: int


def share(start: Mapping[int, int], end: Mapping[int, int], rows_max: int | None) -> dict[int, int]:
    """Where a batch that starts at ``start`` ends, with at most ``rows_max`` rows and never beyond ``end``.

    Every partition gets an equal share; what one does not need goes to those that lag more, so that a short
    partition never waits for a long one and all reach their end together. A partition that ``start`` does not
    know begins at its ``end`` in ``start`` 's place: callers name all partitions.
    """
    backlog = {p: max(0, end[p] - start.get(p, 0)) for p in end}
    if rows_max is None or sum(backlog.values()) <= rows_max:
        return {p: max(end[p], start.get(p, 0)) for p in end}
    taken: dict[int, int] = {}
    left = rows_max
    for seat, partition in enumerate(sorted(backlog, key=lambda p: (backlog[p], p))):
        taken[partition] = min(backlog[partition], left // (len(backlog) - seat))
        left -= taken[partition]
    return {p: start.get(p, 0) + taken[p] for p in end}


def split(start: Mapping[int, int], end: Mapping[int, int], *, rows_min: int, tasks: int) -> list[Range]:
    """Cuts a batch into ranges: about ``tasks`` of equal size, none shorter than ``rows_min`` but for remains."""
    rows = sum(max(0, end[p] - start.get(p, 0)) for p in end)
    size = max(rows_min, -(-rows // max(1, tasks)), 1)
    return [Range(p, a, b) for p in sorted(end) for a, b in _cut(start.get(p, 0), end[p], size)]


def _cut(start: int, end: int, size: int) -> Iterator[tuple[int, int]]:
    pieces = max(1, round((end - start) / size))
    for piece in range(pieces):
        a = start + (end - start) * piece // pieces
        b = start + (end - start) * (piece + 1) // pieces
        if b > a:
            yield a, b
