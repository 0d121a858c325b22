"""The coverage job's tables, and what one batch does to them.

A batch is classified against ``seen`` as its predecessor left it and written to the tables side by side; ``seen`` comes
last. Writing it earlier, or asking ``readings`` what is known, would make a batch that is run again after a crash
look like repeats, and starve the tables that had not been written yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from pyspark.sql import DataFrame

from lapwing.contracts.fields import Record
from lapwing.contracts.tables import KEYS, PARTITIONED, TABLES
from lapwing.pipeline.jobs import reach
from lapwing.pipeline.jobs.aggregates import Aggregate, aggregates
from lapwing.pipeline.jobs.digest import Counts, Digest, Plan, digest
from lapwing.pipeline.jobs.progress import BatchProgress, Phases
from lapwing.pipeline.jobs.reach import Oldest
from lapwing.pipeline.jobs.seen import mark
from lapwing.pipeline.jobs.sink_tables import SinkTables
from lapwing.pipeline.jobs.stream_job import Hook
from lapwing.pipeline.source.job_source import Begun

_SIDE_BY_SIDE = 3


class CoverageTables(SinkTables):
    """The six tables under ``folder``, for one stream.

    Args:
        folder: Holds one folder per table.
        stream_uuid: What the positions in the tables belong to.
        partitions: The stream's partitions.
        served_dbm: From this RSRP on a place counts as served.
        oldest: See `lapwing.pipeline.jobs.reach.trimmed`.
        first: See `lapwing.pipeline.jobs.reach.holes`.
        committed: See `Hook`.
        besides: Aggregates of a job that does more; ``records`` and ``keys`` are their tables'.
    """

    def __init__(
        self,
        folder: Path,
        stream_uuid: str,
        partitions: Sequence[int],
        *,
        served_dbm: int,
        oldest: Oldest | None = None,
        first: Oldest | None = None,
        committed: Hook = lambda _: None,
        besides: Sequence[Aggregate] = (),
        records: Mapping[str, Record] = {},
        keys: Mapping[str, Sequence[str]] = {},
    ) -> None:
        super().__init__(
            folder,
            {**TABLES, **records},
            {**KEYS, **keys},
            stream_uuid=stream_uuid,
            partitions=partitions,
            oldest=oldest,
            committed=committed,
        )
        self._aggregates = (*aggregates(served_dbm), *besides)
        self._first = first

    def begun(self) -> Begun:
        """Where a job without a checkpoint has to start, and the end of the batch that it may have to finish."""
        stands = self._stands()
        until = {p: max(at[p] for at in stands.values()) for p in self._partitions}
        return Begun(stands["seen"], until, self._are_known(), self._from_zero())

    def begin(self, start: Mapping[int, int], oldest: Mapping[int, int]) -> None:
        """Writes down where this stream begins, before anything of it is read; see `JobTables`."""
        self._sinks["seen"].begin(self._uuid, start, {p: max(at, oldest.get(p, 0)) for p, at in start.items()})

    def write(self, rows: DataFrame, batch: int) -> BatchProgress:
        """Writes a batch to every table that does not have it yet.

        Args:
            rows: Rows of `lapwing.pipeline.transforms.parse.PARSED` with ``observed_at``.
            batch: Its number, for the progress.
        """
        phases = Phases()
        with phases.phase("batch"):
            stands = self._stands()
            begun_at = self._begun_at(stands["seen"])  # a hole writes another beginning down
            folders = {name: self._target(name) for name in PARTITIONED}
            with phases.phase("digest"):
                holes = self._holes(rows, stands["seen"])
                plan = Plan(folders, self._sinks["seen"].files(), stands, self._parts(), self._starts(), holes)
                found = digest(rows, plan)
            written = self._write(found, phases) if found.counts else {}
        return self._progress(batch, found.counts, begun_at, phases, written)

    def _progress(
        self,
        batch: int,
        counts: Mapping[int, Counts],
        begun_at: Mapping[int, int],
        phases: Phases,
        written: dict[str, int],
    ) -> BatchProgress:
        """What a batch was, from its ``counts`` by partition; ``begun_at``: see `SinkTables`."""
        total = Counts()
        for each in counts.values():
            total.add(each)
        seconds = phases.seconds.pop("batch")
        return BatchProgress(
            batch=batch,
            rows=total.rows,
            readings=total.readings,
            repeated=total.repeated,
            quarantined=total.quarantined,
            lost=total.lost,
            before_start=total.before_start,
            trimmed=reach.trimmed(begun_at, counts, oldest=self._oldest),
            seconds=seconds,
            seconds_by_phase=phases.seconds,
            rows_written=written,
            done={**dict.fromkeys(self._partitions, 0), **begun_at, **reach.done(counts)},
        )

    def _parts(self) -> list[str]:
        return [aggregate.name for aggregate in self._aggregates]

    def _write(self, found: Digest, phases: Phases) -> dict[str, int]:
        done = reach.done(found.counts)
        with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
            started: dict[str, Future[int]] = {}
            for name in ("readings", "quarantine"):
                if found.new[name]:
                    started[name] = pool.submit(self._append, name, found, done, phases)
            for aggregate in self._aggregates:
                started[aggregate.name] = pool.submit(self._merge, aggregate, found.parts[aggregate.name], done, phases)
            written = {name: future.result() for name, future in started.items()}
        written["seen"] = self._mark(found, done, phases)
        return written

    def _append(self, name: str, found: Digest, done: Mapping[int, int], phases: Phases) -> int:
        with phases.phase(name):
            written = self._sinks[name].append(found.new[name].written(self._target(name)), self._uuid, done)
        self._committed(name)
        return written

    def _mark(self, found: Digest, done: Mapping[int, int], phases: Phases) -> int:
        with phases.phase("seen"):
            written = mark(self._sinks["seen"], found.parts["seen"], self._uuid, done)
        self._committed("seen")
        return written

    def _starts(self) -> dict[int, int]:
        return self._sinks["seen"].starts(self._uuid, self._partitions)

    def _holes(self, rows: DataFrame, stands: Mapping[int, int]) -> list[int]:
        """Writes down, too, that devices which are met from now on may have begun in one."""
        starts = self._starts()
        found = reach.holes(rows, {p: offset or starts[p] for p, offset in stands.items()}, self._first)
        if found:
            self._sinks["seen"].begin(self._uuid, {}, found)
        return sorted(found)
