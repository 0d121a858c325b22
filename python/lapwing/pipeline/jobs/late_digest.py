"""What Spark's tasks do with a batch of the job ``deadlines``: judge each message, add up, write the quarantine.

A message counts where it lies: each task adds up what it has, and the driver joins the sums. Only where a source may
bring a message twice are rows brought together, by their ids; copies of what ``seen`` knows are left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from lapwing.contracts.envelope import CARRIED, ENVELOPE
from lapwing.contracts.tables import QUARANTINE
from lapwing.pipeline.jobs.answers import ANSWER, NewRows, answered, file_answer, from_ipc, ipc, rows_from, table_of
from lapwing.pipeline.jobs.seen import seen_of
from lapwing.pipeline.jobs.task_plan import TaskPlan
from lapwing.pipeline.transforms.carried import first_copies, message_marks
from lapwing.pipeline.transforms.late import Late, dead_letters, misses, named, parse_late

PARTS: Mapping[str, Callable[[pa.Table], pa.Table]] = {"misses": misses, "dead_letters": dead_letters}
"""The aggregates; a part of them is joined by the same function that makes it."""

_SCHEMA = CARRIED.arrow_schema()


@dataclass
class LateCounts:
    """What came in one stream partition, of rows that ``seen`` did not stand above."""

    rows: int = 0
    misses: int = 0
    dead_letters: int = 0
    quarantined: int = 0
    repeated: int = 0
    lowest: int = 2**63 - 1
    next: int = 0

    def add(self, other: LateCounts) -> None:
        """Adds another task's."""
        for name in ("rows", "misses", "dead_letters", "quarantined", "repeated"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.lowest, self.next = min(self.lowest, other.lowest), max(self.next, other.next)


@dataclass
class LateDigest:
    """A batch, digested: what the driver commits."""

    new: NewRows = field(default_factory=NewRows)
    parts: dict[str, list[pa.Table]] = field(default_factory=lambda: {name: [] for name in (*PARTS, "seen")})
    counts: dict[int, LateCounts] = field(default_factory=dict)


def digest_late(rows: DataFrame, plan: TaskPlan) -> LateDigest:
    """Has Spark digest a batch.

    Args:
        rows: Rows of ``ENVELOPE`` or ``CARRIED`` with ``observed_at``.
        plan: What has been done already, and where to write.
    """

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        arrived = [pa.RecordBatch.from_arrays(batch.columns, schema=_SCHEMA) for batch in batches]
        yield answered(list(_answers(pa.Table.from_batches(arrived, _SCHEMA), plan, may_repeat=may_repeat)))

    may_repeat = "message_id" in rows.columns
    found = _together(rows).mapInArrow(task, ANSWER).collect()
    return _gathered((row["name"], bytes(row["body"])) for row in found)


def _together(rows: DataFrame) -> DataFrame:
    """Rows of ``CARRIED``, all copies of a message in one task."""
    if "message_id" not in rows.columns:
        # A stream has each message once.
        return rows.select(ENVELOPE.names).withColumn("message_id", F.lit(None).cast("string"))
    # A miss says the id of another message. What has none goes anywhere: a column that is null would bring all of it to
    # one task.
    of_miss = F.get_json_object(F.col("payload").cast("string"), "$.message_id")
    anywhere = F.col("offset").cast("string")
    return rows.select(CARRIED.names).repartition(F.coalesce("message_id", of_miss, anywhere))


def _answers(rows: pa.Table, plan: TaskPlan, *, may_repeat: bool) -> Iterator[tuple[str, bytes]]:
    rows = rows_from(rows, plan.stands["seen"])
    if not rows.num_rows:
        return
    rows = named(rows) if may_repeat else rows  # a stream has each message once: `seen` has nothing to know of it
    first = rows.filter(pa.array(first_copies(rows, seen_of([rows["message_id"]], plan.seen))))
    late = parse_late(first)
    yield from file_answer(
        "quarantine", rows_from(late.quarantine, plan.stands["quarantine"]), QUARANTINE, plan.folders
    )
    for name, part in PARTS.items():
        yield name, ipc(part(rows_from(late[name], plan.stands[name])))
    yield "seen", ipc(message_marks(first))
    for partition, counts in _counted(rows, late).items():
        yield f"counts/{partition}", json.dumps(asdict(counts)).encode()


def _counted(rows: pa.Table, late: Late) -> dict[int, LateCounts]:
    counted = {}
    for partition in pc.unique(rows["partition"]).to_pylist():
        all_ = rows.filter(pc.equal(rows["partition"], partition))
        span = pc.min_max(all_["offset"]).as_py()
        of = {name: _of_partition(late[name], partition) for name in (*PARTS, "quarantine")}
        counted[partition] = LateCounts(
            rows=all_.num_rows,
            misses=of["misses"],
            dead_letters=of["dead_letters"],
            quarantined=of["quarantine"],
            repeated=all_.num_rows - sum(of.values()),
            lowest=span["min"],
            next=span["max"] + 1,
        )
    return counted


def _of_partition(rows: pa.Table, partition: int) -> int:
    return int(pc.sum(pc.equal(rows["partition"], partition)).as_py() or 0)


def _gathered(answers: Iterable[tuple[str, bytes]]) -> LateDigest:
    found = LateDigest()
    for name, body in answers:
        if name.startswith("counts/"):
            counts = LateCounts(**json.loads(body))
            found.counts.setdefault(int(name.removeprefix("counts/")), LateCounts()).add(counts)
        elif table_of(name) == "quarantine":
            found.new.take(name, body)
        else:
            found.parts[name].append(from_ipc(body))
    return found
