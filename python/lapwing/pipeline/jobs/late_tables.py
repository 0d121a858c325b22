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
from lapwing.pipeline.jobs.sink_tables import SEEN, SinkTables
from lapwing.pipeline.jobs.stream_job import Hook
from lapwing.pipeline.jobs.task_plan import TaskPlan
from lapwing.pipeline.source.job_source import Begun


def _same(rows: pa.Table) -> pa.Table:
    return rows


AGGREGATES = tuple(Aggregate(name, LATE_KEYS[name], part, _same, part) for name, part in PARTS.items())


class LateTables(SinkTables):
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
        super().__init__(
            folder,
            LATE_TABLES,
            LATE_KEYS,
            stream_uuid=stream_uuid,
            partitions=partitions,
            oldest=oldest,
            committed=committed,
        )

    def begun(self) -> Begun:
        """Where a job without a checkpoint has to start; what some tables have already, they leave out."""
        start = self._stands()[SEEN]
        return Begun(start, start, self._are_known(), self._from_zero())

    def begin(self, start: Mapping[int, int], oldest: Mapping[int, int]) -> None:
        """Writes down where this stream begins, before anything of it is read; see `JobTables`."""
        self._sinks[SEEN].begin(self._uuid, start, {p: max(at, oldest.get(p, 0)) for p, at in start.items()})

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
                folders = {"quarantine": self._target("quarantine")}
                found = digest_late(rows, TaskPlan(folders, self._sinks[SEEN].files(), stands))
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
            trimmed=reach.trimmed(self._begun_at(stands[SEEN]), found.counts, oldest=self._oldest),
            seconds=seconds,
            seconds_by_phase=phases.seconds,
            rows_written=written,
            done={**stands[SEEN], **reach.done(found.counts)},
        )

    def _write(self, found: LateDigest, phases: Phases) -> dict[str, int]:
        done = reach.done(found.counts)
        written = {
            aggregate.name: self._merge(aggregate, found.parts[aggregate.name], done, phases)
            for aggregate in AGGREGATES
        }
        if found.new:
            with phases.phase("quarantine"):
                files = found.new.written(self._target("quarantine"))
                written["quarantine"] = self._sinks["quarantine"].append(files, self._uuid, done)
            self._committed("quarantine")
        with phases.phase(SEEN):
            written[SEEN] = mark(self._sinks[SEEN], found.parts[SEEN], self._uuid, done)
        self._committed(SEEN)
        return written
