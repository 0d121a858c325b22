"""What Spark's tasks do with a batch: all that costs time per reading, in one pass.

Spark brings each device's rows together; a task then classifies its rows, writes the readings and the quarantine into
files that no table knows yet, and answers with few rows: those files' names, the aggregates' parts, and counts. Where
there are few readings it answers with these as well. The driver commits them (`coverage_tables`). Nothing that a task
does is seen before that, so tasks can be run again.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from lapwing.contracts.tables import QUARANTINE, READINGS
from lapwing.pipeline.jobs.aggregates import PARTS
from lapwing.pipeline.jobs.answers import ANSWER, NewRows, answered, file_answer, from_ipc, ipc, rows_from, table_of
from lapwing.pipeline.jobs.seen import seen_of
from lapwing.pipeline.jobs.task_plan import TaskPlan
from lapwing.pipeline.transforms.carried import first_copies, message_marks
from lapwing.pipeline.transforms.misplaced import misplaced
from lapwing.pipeline.transforms.parse import PARSED
from lapwing.pipeline.transforms.repeats import classify, marks

_PARSED_SCHEMA = PARSED.arrow_schema()


@dataclass(frozen=True)
class Plan(TaskPlan):
    """What a task is told; it writes files of `readings` and `quarantine`."""

    parts: Sequence[str] = ("coverage", "latency", "quality")
    """The aggregates that are wanted: names of ``PARTS``."""
    starts: Mapping[int, int] = field(default_factory=dict)
    """Per stream partition the offset at which the job began."""
    holes: Collection[int] = ()
    """The stream partitions of which messages were deleted before this batch."""


@dataclass
class Counts:
    """What came in one stream partition, of rows that ``seen`` did not have."""

    rows: int = 0
    readings: int = 0
    repeated: int = 0
    quarantined: int = 0
    lost: int = 0
    before_start: int = 0
    lowest: int = 2**63 - 1
    next: int = 0

    def add(self, other: Counts) -> None:
        """Adds another task's."""
        for name in ("rows", "readings", "repeated", "quarantined", "lost", "before_start"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.lowest, self.next = min(self.lowest, other.lowest), max(self.next, other.next)


@dataclass
class Digest:
    """A batch, digested: what the driver commits."""

    new: dict[str, NewRows] = field(default_factory=lambda: {"readings": NewRows(), "quarantine": NewRows()})
    parts: dict[str, list[pa.Table]] = field(default_factory=lambda: {name: [] for name in (*PARTS, "seen")})
    counts: dict[int, Counts] = field(default_factory=dict)


def digest(parsed: DataFrame, plan: Plan) -> Digest:
    """Has Spark digest a batch.

    Args:
        parsed: Rows of ``PARSED``.
        plan: What has been done already, and where to write.
    """

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        arrived = [pa.RecordBatch.from_arrays(batch.columns, schema=_PARSED_SCHEMA) for batch in batches]
        answers = list(_answers(pa.Table.from_batches(arrived, _PARSED_SCHEMA), plan))
        yield answered(answers)

    # A refused payload names no device: the message's name brings its copies together, or else its sender stands in.
    together = parsed.select(PARSED.names).repartition(F.coalesce("device", "message_id", "client_id"))
    return _gathered((row["name"], bytes(row["body"])) for row in together.mapInArrow(task, ANSWER).collect())


def _answers(rows: pa.Table, plan: Plan) -> Iterator[tuple[str, bytes]]:
    rows = rows_from(rows, plan.stands["seen"])
    if not rows.num_rows:
        return
    refused = rows["reason"].is_valid()
    broken, valid = rows.filter(refused), rows.filter(pc.invert(refused))
    seen = seen_of([rows["device"], broken["message_id"]], plan.seen)
    kept = broken.filter(pa.array(first_copies(broken, seen)))
    arrived = pa.concat_tables([valid, kept.filter(kept["serial"].is_valid())])

    def prints_of(devices: pa.Array) -> pa.Table:
        return seen_of([pa.chunked_array([devices])], plan.seen, prints=True)

    classified = classify(arrived, seen, plan.starts, prints_of, plan.holes)
    quarantined = pa.concat_tables([kept, misplaced(classified)])
    missing = {name: rows_from(classified, plan.stands[name]) for name in ("readings", *plan.parts)}
    yield from file_answer("readings", missing["readings"].filter(missing["readings"]["first"]), READINGS, plan.folders)
    yield from file_answer("quarantine", rows_from(quarantined, plan.stands["quarantine"]), QUARANTINE, plan.folders)
    for name in plan.parts:
        yield name, ipc(PARTS[name](missing[name]))
    yield "seen", ipc(pa.concat_tables([marks(classified), message_marks(kept)]))
    for partition, counts in _counted(rows, classified, quarantined).items():
        yield f"counts/{partition}", json.dumps(asdict(counts)).encode()


def _counted(rows: pa.Table, classified: pa.Table, quarantined_rows: pa.Table) -> dict[int, Counts]:
    """By partition what came: ``rows``, of which those with a serial are ``classified``."""
    counted = {}
    for partition in pc.unique(rows["partition"]).to_pylist():
        all_ = rows.filter(pc.equal(rows["partition"], partition))
        valid = classified.filter(pc.equal(classified["partition"], partition))
        readings = _sum(valid["first"])
        quarantined = _sum(pc.equal(quarantined_rows["partition"], partition))
        span = pc.min_max(all_["offset"]).as_py()
        counted[partition] = Counts(
            rows=all_.num_rows,
            readings=readings,
            repeated=all_.num_rows - readings - quarantined,
            quarantined=quarantined,
            lost=_sum(valid["gap"]) - _sum(valid["recovered"]),
            before_start=_sum(valid["before_start"]),
            lowest=span["min"],
            next=span["max"] + 1,
        )
    return counted


def _sum(column: pa.ChunkedArray) -> int:
    return int(np.sum(column.to_numpy())) if len(column) else 0


def _gathered(answers: Iterable[tuple[str, bytes]]) -> Digest:
    found = Digest()
    for name, body in answers:
        if name.startswith("counts/"):
            found.counts.setdefault(int(name.removeprefix("counts/")), Counts()).add(Counts(**json.loads(body)))
        elif table_of(name) in found.new:
            found.new[table_of(name)].take(name, body)
        else:
            found.parts[name].append(from_ipc(body))
    return found
