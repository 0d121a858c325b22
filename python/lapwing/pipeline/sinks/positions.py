"""Where a table stands in streams: per stream and partition an offset, said by the commits that brought its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from deltalake import DeltaTable, Transaction

from lapwing.pipeline.errors import unusable_table
from lapwing.pipeline.sinks.commits import app_id, commits, said_beside, start_id

POSITIONS_KEY = "lapwing.positions"
"""In the metadata of a commit that Spark made: per stream and partition the next offset."""


class Positions:
    """Those of ``table``, as far as it has been looked at.

    Args:
        table: Whoever holds it brings it up to date.
        folder: It lies there.
        name: Of its record, for errors.
    """

    def __init__(self, table: DeltaTable, folder: Path, name: str) -> None:
        self._table = table
        self._folder = folder
        self._name = name

    def done(self, stream_uuid: str, partitions: Sequence[int]) -> dict[int, int]:
        """Per partition the offset up to which the table is done; 0 for one it has not met.

        Raises:
            TableError: Spark has written it, and its log does not say any more how far.
        """
        done = {p: self._table.transaction_version(app_id(stream_uuid, p)) for p in partitions}
        spark_s = self.of_spark(stream_uuid)
        return {p: max(int(offset or 0), spark_s.get(p, 0)) for p, offset in done.items()}

    def knows(self, stream_uuid: str, partitions: Sequence[int]) -> bool:
        """Whether a commit has said a position of that stream, be it 0."""
        ids = (stream_uuid, *(app_id(stream_uuid, p) for p in partitions))
        return any(self._table.transaction_version(each) is not None for each in ids)

    def starts(self, stream_uuid: str, partitions: Sequence[int]) -> dict[int, int]:
        """Per partition where a job began with it; 0: with its first message."""
        return {p: int(self._table.transaction_version(start_id(stream_uuid, p)) or 0) for p in partitions}

    def from_zero(self, stream_uuid: str, partitions: Sequence[int]) -> set[int]:
        """The partitions that a job has begun with offset 0, as far as a commit has said so."""
        return {p for p in partitions if self._table.transaction_version(start_id(stream_uuid, p)) == 0}

    def forward(self, stream_uuid: str, done: Mapping[int, int]) -> dict[int, int]:
        """A table never goes back: a batch that is cut anew may end before where this table stands already."""
        stands = self.done(stream_uuid, list(done))
        return {partition: max(offset, stands[partition]) for partition, offset in done.items()}

    def said(self, stream_uuid: str, done: Mapping[int, int]) -> list[Transaction]:
        """What a commit says that brings the table up to the offsets ``done``."""
        at = self.forward(stream_uuid, done)
        return [Transaction(app_id(stream_uuid, p), offset) for p, offset in sorted(at.items())]

    def begun(self, stream_uuid: str, done: Mapping[int, int], starts: Mapping[int, int]) -> list[Transaction]:
        """What the commit says with which a job begins; see `DeltaSink.begin`."""
        at = {app_id(stream_uuid, p): offset for p, offset in self.forward(stream_uuid, done).items()}
        at |= {start_id(stream_uuid, p): offset for p, offset in starts.items()}
        return [Transaction(name, offset) for name, offset in sorted(at.items())]

    def of_spark(self, stream_uuid: str) -> dict[int, int]:
        """What the latest commit of `SparkDeltaSink` for that stream says; empty where there is none.

        Raises:
            TableError: There was one, and the log does not have it any more.
        """
        if self._table.transaction_version(stream_uuid) is None:
            return {}
        for commit in commits(self._folder, self._table.version()):
            said = said_beside(commit).get(POSITIONS_KEY, {}).get(stream_uuid)
            if said is not None:
                return {int(partition): int(offset) for partition, offset in said.items()}
        what, remedy = "its history no longer says where it stands", "bring its log back, or give another --out"
        raise unusable_table(self._name, self._folder, what, remedy)
