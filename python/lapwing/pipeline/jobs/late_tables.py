"""The deadlines job's tables, and what one batch does to them.

Each table's commit says up to where it is done, so a batch that is run again after a crash adds to a table only what it
does not have. ``seen`` is written last, with nothing in it if need be: where it stands, all of them do; written earlier
it would make a batch that is run again look like repeats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame

from lapwing.contracts.late_tables import LATE_KEYS, LATE_TABLES
from lapwing.pipeline.jobs import reach
from lapwing.pipeline.jobs.aggregates import Aggregate
from lapwing.pipeline.jobs.late_digest import PARTS, LateCounts, LateDigest, digest_late
from lapwing.pipeline.jobs.late_progress import LateProgress
from lapwing.pipeline.jobs.progress import Phases
from lapwing.pipeline.jobs.reach import Oldest
from lapwing.pipeline.jobs.seen import mark
from lapwing.pipeline.jobs.stream_job import Hook
from lapwing.pipeline.jobs.task_plan import Target, TaskPlan
from lapwing.pipeline.sinks.delta import DeltaSink
from lapwing.pipeline.sinks.versions import check_gone, check_older, write_versions
from lapwing.pipeline.source.job_source import Begun

LAST = "seen"


def _same(rows: pa.Table) -> pa.Table:
    return rows


AGGREGATES = tuple(Aggregate(name, LATE_KEYS[name], part, _same, part) for name, part in PARTS.items())


class LateTables:
    """The four tables under ``folder``, for one stream; other streams may have been added up in them before.

    Args:
        folder: Holds one folder per table.
        stream_uuid: What the positions in the tables belong to.
        partitions: The stream's partitions.
        oldest: See `lapwing.pipeline.jobs.reach.trimmed`.
        committed: See `Hook`.
    """

    def __init__(
        self,
        folder: Path,
        stream_uuid: str,
        partitions: Sequence[int],
        *,
        oldest: Oldest | None = None,
        committed: Hook = lambda _: None,
    ) -> None:
        # Spark's tasks write into these folders from a working folder of their own.
        self._home = home = folder.absolute()
        check_gone(home)
        self._sinks = {name: DeltaSink(home / name, LATE_TABLES[name], LATE_KEYS.get(name, ())) for name in LATE_TABLES}
        self._uuid = stream_uuid
        self._partitions = list(partitions)
        self._oldest = oldest
        self._committed = committed
        self._batches = 0

    def begun(self) -> Begun:
        """Where a job without a checkpoint has to start; what some tables have already, they leave out."""
        start = self._stands()[LAST]
        known = any(sink.knows(self._uuid, self._partitions) for sink in self._sinks.values())
        return Begun(start, start, known)

    def begin(self, start: Mapping[int, int], oldest: Mapping[int, int]) -> None:  # noqa: ARG002  (nothing has serials)
        """Writes down where this stream begins, before anything of it is read; see `JobTables`."""
        self._sinks[LAST].append([], self._uuid, start)

    def untouched(self) -> bool:
        """Whether no batch has ever been written."""
        return all(sink.untouched() for sink in self._sinks.values())

    def rows(self) -> dict[str, int]:
        """How many rows each table has; ``seen`` is the job's own."""
        return {name: sink.rows() for name, sink in self._sinks.items() if name != LAST}

    def write(self, rows: DataFrame, batch: int) -> LateProgress:
        """Writes a batch to every table that does not have it yet.

        Args:
            rows: Rows of ``ENVELOPE`` or ``CARRIED`` with ``observed_at``.
            batch: Its number, for the progress.
        """
        phases = Phases()
        with phases.phase("batch"):
            stands = self._stands()
            with phases.phase("digest"):
                folders = {"quarantine": self._quarantine()}
                found = digest_late(rows, TaskPlan(folders, self._sinks[LAST].files(), stands))
            written = self._write(found, phases) if found.counts else {}
        total = LateCounts()
        for counts in found.counts.values():
            total.add(counts)
        seconds = phases.seconds.pop("batch")
        return LateProgress(
            batch=batch,
            rows=total.rows,
            misses=total.misses,
            dead_letters=total.dead_letters,
            quarantined=total.quarantined,
            repeated=total.repeated,
            trimmed=reach.trimmed(stands[LAST], found.counts, oldest=self._oldest),
            seconds=seconds,
            seconds_by_phase=phases.seconds,
            rows_written=written,
            done={**stands[LAST], **reach.done(found.counts)},
        )

    def refresh(self) -> None:
        """Takes up what others have committed; see `JobTables`."""
        for sink in self._sinks.values():
            sink.refresh()
        versions = {name: sink.version for name, sink in self._sinks.items()}
        check_older(self._home, versions)
        write_versions(self._home, versions)

    def tidy(self, *, every_batches: int) -> None:
        """Makes few files of many, once in so many batches: between them, never within one."""
        self._batches += 1
        if self._batches % every_batches == 0:
            for name, sink in self._sinks.items():
                if name != LAST:
                    sink.compact()

    def _quarantine(self) -> Target:
        sink = self._sinks["quarantine"]
        return Target(str(sink.folder), sink.is_by_day)

    def _write(self, found: LateDigest, phases: Phases) -> dict[str, int]:
        done = reach.done(found.counts)
        written = {aggregate.name: self._merge(aggregate, found, done, phases) for aggregate in AGGREGATES}
        if found.new:
            with phases.phase("quarantine"):
                files = found.new.written(self._quarantine())
                written["quarantine"] = self._sinks["quarantine"].append(files, self._uuid, done)
            self._committed("quarantine")
        with phases.phase(LAST):
            written[LAST] = mark(self._sinks[LAST], found.parts[LAST], self._uuid, done)
        self._committed(LAST)
        return written

    def _merge(self, aggregate: Aggregate, found: LateDigest, done: Mapping[int, int], phases: Phases) -> int:
        parts = pa.concat_tables(found.parts[aggregate.name])
        if not parts.num_rows:
            return 0
        sink = self._sinks[aggregate.name]
        with phases.phase(aggregate.name):
            when = aggregate.keys[0]
            complete = aggregate.complete(parts, sink.read(when, parts[when]))
            written = sink.merge(complete, self._uuid, done)
        self._committed(aggregate.name)
        return written

    def _stands(self) -> dict[str, dict[int, int]]:
        return {name: sink.positions(self._uuid, self._partitions) for name, sink in self._sinks.items()}
