"""What Spark's tasks do with a batch of the job ``deadlines``: judge each message, add up, write the quarantine.

A message counts where it lies, so rows need not be brought together: each task adds up what it has, and the driver
joins the sums.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from lapwing.contracts.envelope import ENVELOPE
from lapwing.contracts.tables import QUARANTINE
from lapwing.pipeline.jobs.answers import ANSWER, answered, file_answer, from_ipc, ipc, rows_from
from lapwing.pipeline.sinks.files import WrittenFile
from lapwing.pipeline.transforms.late import Late, dead_letters, misses, parse_late

PARTS: Mapping[str, Callable[[pa.Table], pa.Table]] = {"misses": misses, "dead_letters": dead_letters}
"""The aggregates; a part of them is joined by the same function that makes it."""

_SCHEMA = ENVELOPE.arrow_schema()


@dataclass
class LateCounts:
    """What came in one stream partition, of rows that ``quarantine`` did not stand above."""

    rows: int = 0
    misses: int = 0
    dead_letters: int = 0
    quarantined: int = 0
    lowest: int = 2**63 - 1
    next: int = 0

    def add(self, other: LateCounts) -> None:
        """Adds another task's."""
        for name in ("rows", "misses", "dead_letters", "quarantined"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.lowest, self.next = min(self.lowest, other.lowest), max(self.next, other.next)


@dataclass
class LateDigest:
    """A batch, digested: what the driver commits."""

    files: list[WrittenFile] = field(default_factory=list)
    parts: dict[str, list[pa.Table]] = field(default_factory=lambda: {name: [] for name in PARTS})
    counts: dict[int, LateCounts] = field(default_factory=dict)


def digest_late(rows: DataFrame, folders: Mapping[str, str], stands: Mapping[str, Mapping[int, int]]) -> LateDigest:
    """Has Spark digest a batch.

    Args:
        rows: Rows of ``ENVELOPE`` with ``observed_at``.
        folders: Where the quarantine's file goes.
        stands: Per table and stream partition the offset below which the table has everything already.
    """

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        arrived = [pa.RecordBatch.from_arrays(batch.columns, schema=_SCHEMA) for batch in batches]
        yield answered(list(_answers(pa.Table.from_batches(arrived, _SCHEMA), folders, stands)))

    found = rows.select(ENVELOPE.names).mapInArrow(task, ANSWER).collect()
    return _gathered((row["name"], bytes(row["body"])) for row in found)


def _answers(
    rows: pa.Table, folders: Mapping[str, str], stands: Mapping[str, Mapping[int, int]]
) -> Iterator[tuple[str, bytes]]:
    rows = rows_from(rows, stands["quarantine"])
    if not rows.num_rows:
        return
    late = parse_late(rows)
    yield from file_answer("quarantine", late.quarantine, QUARANTINE, folders)
    for name, part in PARTS.items():
        yield name, ipc(part(rows_from(late[name], stands[name])))
    for partition, counts in _counted(rows, late).items():
        yield f"counts/{partition}", json.dumps(asdict(counts)).encode()


def _counted(rows: pa.Table, late: Late) -> dict[int, LateCounts]:
    counted = {}
    for partition in pc.unique(rows["partition"]).to_pylist():
        span = pc.min_max(rows.filter(pc.equal(rows["partition"], partition))["offset"]).as_py()
        of = {name: _of_partition(late[name], partition) for name in (*PARTS, "quarantine")}
        counted[partition] = LateCounts(
            rows=sum(of.values()),
            misses=of["misses"],
            dead_letters=of["dead_letters"],
            quarantined=of["quarantine"],
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
        elif name == "quarantine":
            found.files.append(WrittenFile(**json.loads(body)))
        else:
            found.parts[name].append(from_ipc(body))
    return found
