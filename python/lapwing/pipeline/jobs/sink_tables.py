"""What a job's tables do alike, whatever they hold: open, say where they stand, merge an aggregate, be made tidy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from lapwing.contracts.fields import Record
from lapwing.pipeline.jobs.aggregates import Aggregate
from lapwing.pipeline.jobs.progress import Phases
from lapwing.pipeline.jobs.reach import Oldest
from lapwing.pipeline.jobs.stream_job import Hook
from lapwing.pipeline.jobs.task_plan import Target
from lapwing.pipeline.sinks.delta import DeltaSink
from lapwing.pipeline.sinks.versions import check_gone, check_older, write_versions

SEEN = "seen"
"""The table that is the job's own; it is written last."""


class SinkTables:
    """The tables under ``folder``, for one stream.

    Args:
        folder: Holds one folder per table.
        records: The tables, by name.
        keys: Of those that are aggregates.
        stream_uuid: What the positions in the tables belong to.
        partitions: The stream's partitions.
        oldest: See `lapwing.pipeline.jobs.reach.trimmed`.
        committed: See `Hook`.
    """

    sink: ClassVar[type[DeltaSink]] = DeltaSink

    def __init__(
        self,
        folder: Path,
        records: Mapping[str, Record],
        keys: Mapping[str, Sequence[str]],
        *,
        stream_uuid: str,
        partitions: Sequence[int],
        oldest: Oldest | None,
        committed: Hook,
    ) -> None:
        # Spark's tasks write into these folders from a working folder of their own.
        self._home = home = folder.absolute()
        check_gone(home)
        self._sinks = {name: self._opened(home / name, record, keys.get(name, ())) for name, record in records.items()}
        self._uuid = stream_uuid
        self._partitions = list(partitions)
        self._oldest = oldest
        self._committed = committed
        self._batches = 0

    def _opened(self, folder: Path, record: Record, keys: Sequence[str]) -> DeltaSink:
        return self.sink(folder, record, keys)

    def untouched(self) -> bool:
        """Whether no batch has ever been written."""
        return all(sink.untouched() for sink in self._sinks.values())

    def rows(self) -> dict[str, int]:
        """How many rows each table has; ``seen`` is the job's own."""
        return {name: sink.rows() for name, sink in self._sinks.items() if name != SEEN}

    def refresh(self) -> None:
        """Takes up what others have committed; see `JobTables`."""
        for sink in self._sinks.values():
            sink.refresh()
        versions = {name: sink.version for name, sink in self._sinks.items()}
        check_older(self._home, versions)
        write_versions(self._home, versions)

    def tidy(self, *, every_batches: int = 1) -> None:
        """Makes few files of many, once in so many batches: between them, never within one."""
        self._batches += 1
        if self._batches % every_batches == 0:
            for name, sink in self._sinks.items():
                if name != SEEN:
                    sink.compact()

    def _stands(self) -> dict[str, dict[int, int]]:
        return {name: sink.positions(self._uuid, self._partitions) for name, sink in self._sinks.items()}

    def _are_known(self) -> bool:
        """Whether a table knows this stream."""
        return any(sink.knows(self._uuid, self._partitions) for sink in self._sinks.values())

    def _from_zero(self) -> set[int]:
        """The partitions in which the position 0 is an offset; see `Begun`."""
        return self._sinks[SEEN].from_zero(self._uuid, self._partitions)

    def _begun_at(self, seen: Mapping[int, int]) -> dict[int, int]:
        """Where a batch has to begin, in the partitions of which that is known; ``seen``: the positions before it."""
        from_zero = self._from_zero()
        return {p: offset for p, offset in seen.items() if offset or p in from_zero}

    def _target(self, name: str) -> Target:
        sink = self._sinks[name]
        return Target(str(sink.folder), sink.is_by_day)

    def _merge(self, aggregate: Aggregate, tables: Sequence[pa.Table], done: Mapping[int, int], phases: Phases) -> int:
        """Adds the parts of a batch to an aggregate; how many rows it has for them now."""
        parts = pa.concat_tables(tables)
        if not parts.num_rows:
            return 0
        sink = self._sinks[aggregate.name]
        with phases.phase(aggregate.name):
            when = aggregate.keys[0]
            complete = aggregate.complete(parts, sink.read(when, parts[when]))
            written = sink.merge(complete, self._uuid, done)
        self._committed(aggregate.name)
        return written
