"""The coverage job's tables, and what one batch does to them.

A batch is classified against ``seen`` as its predecessor left it, kept once, and written to the tables side by side;
``seen`` comes last. Writing it earlier, or asking ``readings`` what is known, would make a batch that is run again
after a crash look like repeats, and starve the tables that had not been written yet.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.util import inheritable_thread_target

from lapwing.contracts.tables import KEYS, TABLES
from lapwing.pipeline.jobs.aggregates import SEEN, Aggregate, aggregates
from lapwing.pipeline.jobs.progress import BatchProgress, Phases
from lapwing.pipeline.sinks.delta import DeltaSink
from lapwing.pipeline.transforms.repeats import classify

Hook = Callable[[str], None]
"""Called with a table's name right after its commit; tests kill the job there."""

_SIDE_BY_SIDE = 3


@dataclass(frozen=True, slots=True)
class Begun:
    """Where the tables stand: all are done up to ``start``, some up to ``until`` already."""

    start: Mapping[int, int]
    until: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class _Counts:
    rows: int
    readings: int
    repeated: int
    quarantined: int
    lost: int
    lowest: Mapping[int, int]
    done: Mapping[int, int]


class CoverageTables:
    """The six tables under ``folder``, for one stream.

    Args:
        folder: Holds one folder per table.
        stream_uuid: What the positions in the tables belong to.
        partitions: The stream's partitions.
        served_dbm: From this RSRP on a place counts as served.
        committed: See `Hook`.
    """

    def __init__(
        self,
        folder: Path,
        stream_uuid: str,
        partitions: Sequence[int],
        *,
        served_dbm: int,
        committed: Hook = lambda _: None,
    ) -> None:
        self._sinks = {name: DeltaSink(folder / name, TABLES[name], KEYS.get(name, ())) for name in TABLES}
        self._uuid = stream_uuid
        self._partitions = list(partitions)
        self._aggregates = aggregates(served_dbm)
        self._committed = committed

    def begun(self) -> Begun:
        """Where a job without a checkpoint has to start, and the end of the batch that it may have to finish."""
        stands = [self._positions(name) for name in self._sinks]
        until = {p: max(at[p] for at in stands) for p in self._partitions}
        return Begun(self._positions("seen"), until)

    def rows(self) -> dict[str, int]:
        """How many rows each table has."""
        return {name: sink.rows() for name, sink in self._sinks.items() if name != "seen"}

    def write(self, parsed: DataFrame, batch: int) -> BatchProgress:
        """Writes a batch to every table that does not have it yet.

        Args:
            parsed: Rows of `lapwing.pipeline.transforms.parse.PARSED` with ``observed_at``.
            batch: Its number, for the progress.
        """
        phases = Phases()
        with phases.phase("batch"):
            start = self._positions("seen")
            seen = self._sinks["seen"].read(parsed.sparkSession)
            classified = classify(parsed.where(_from(start)), seen).persist()
            try:
                with phases.phase("classify"):
                    counts = _count(classified)
                written = self._write_tables(classified, counts, phases) if counts.rows else {}
            finally:
                classified.unpersist()
        seconds = phases.seconds.pop("batch")
        return BatchProgress(
            batch=batch,
            rows=counts.rows,
            readings=counts.readings,
            repeated=counts.repeated,
            quarantined=counts.quarantined,
            lost=counts.lost,
            trimmed=_trimmed(start, counts),
            seconds=seconds,
            seconds_by_phase=phases.seconds,
            rows_written=written,
            done={**start, **counts.done},
        )

    def _write_tables(self, classified: DataFrame, counts: _Counts, phases: Phases) -> dict[str, int]:
        appends: dict[str, Callable[[DataFrame], DataFrame]] = {
            "readings": lambda rows: rows.where("first"),
            "quarantine": lambda rows: rows.where("reason is not null"),
        }
        if not counts.quarantined:
            del appends["quarantine"]
        with ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
            started: dict[str, Future[int]] = {}
            for name, chosen in appends.items():
                started[name] = pool.submit(_inheriting(self._append, name, chosen, classified, counts, phases))
            for aggregate in self._aggregates:
                started[aggregate.name] = pool.submit(
                    _inheriting(self._merge, aggregate, classified, counts, phases)
                )
            written = {name: future.result() for name, future in started.items()}
        written["seen"] = self._merge(SEEN, classified, counts, phases)
        return written

    def _append(
        self,
        name: str,
        chosen: Callable[[DataFrame], DataFrame],
        classified: DataFrame,
        counts: _Counts,
        phases: Phases,
    ) -> int:
        with phases.phase(name):
            rows = chosen(self._missing(name, classified, counts))
            written = self._sinks[name].append(rows, self._uuid, counts.done)
        self._committed(name)
        return written

    def _merge(self, aggregate: Aggregate, classified: DataFrame, counts: _Counts, phases: Phases) -> int:
        sink = self._sinks[aggregate.name]
        with phases.phase(aggregate.name):
            part = aggregate.part(self._missing(aggregate.name, classified, counts)).persist()
            try:
                table = None if sink.empty() else sink.read(classified.sparkSession)
                written = sink.merge(aggregate.complete(part, table), self._uuid, counts.done)
            finally:
                part.unpersist()
            if aggregate is SEEN:
                sink.record_done(self._uuid, counts.done)
        self._committed(aggregate.name)
        return written

    def _missing(self, name: str, classified: DataFrame, counts: _Counts) -> DataFrame:
        """The rows that this table does not have: all, but in a batch that is run again after a crash."""
        stands = self._positions(name)
        return classified.where(_from({p: at for p, at in stands.items() if at > counts.lowest.get(p, at)}))

    def _positions(self, name: str) -> dict[int, int]:
        return self._sinks[name].positions(self._uuid, self._partitions)


def _from(positions: Mapping[int, int]) -> Column:
    """Whether a row lies at or above its partition's position."""
    chosen = F.lit(True)
    for partition, offset in positions.items():
        if offset:
            chosen = chosen & ~((F.col("partition") == partition) & (F.col("offset") < offset))
    return chosen


def _count(classified: DataFrame) -> _Counts:
    found = (
        classified.groupBy("partition")
        .agg(
            F.min("offset").alias("lowest"),
            F.max("offset").alias("highest"),
            F.count("*").alias("rows"),
            F.count_if("first").alias("readings"),
            F.count_if("repeated").alias("repeated"),
            F.count("reason").alias("quarantined"),
            (F.sum("gap") - F.count_if("late")).alias("lost"),
        )
        .collect()
    )
    return _Counts(
        rows=sum(row["rows"] for row in found),
        readings=sum(row["readings"] for row in found),
        repeated=sum(row["repeated"] for row in found),
        quarantined=sum(row["quarantined"] for row in found),
        lost=sum(row["lost"] for row in found),
        lowest={row["partition"]: row["lowest"] for row in found},
        done={row["partition"]: row["highest"] + 1 for row in found},
    )


def _trimmed(start: Mapping[int, int], counts: _Counts) -> int:
    # Offsets have no holes: what lies between two positions and did not come was deleted before it was read.
    spans = [end - (start.get(p) or counts.lowest[p]) for p, end in counts.done.items()]
    return max(0, sum(spans) - counts.rows)


def _inheriting(call: Callable[..., int], *args: Any) -> Callable[[], int]:
    """``call`` for a thread of its own, which inherits what ties Spark's jobs to the query (so it can stop them)."""
    bound: Callable[[], int] = inheritable_thread_target(functools.partial(call, *args))
    return bound
