"""What Spark's tasks answer to the driver: a name and bytes per row, few of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from lapwing.contracts.fields import Record
from lapwing.pipeline.jobs.task_plan import Target
from lapwing.pipeline.sinks.files import WrittenFile, write_files
from lapwing.pipeline.transforms.days import DAY, days

ANSWER = "name string, body binary"
"""The schema, as Spark writes it."""
FEW_ROWS = 1_000
"""Some 300 kB of one task; of 200 of them the driver can hold all."""
_ROWS = "rows/"


def answered(answers: Sequence[tuple[str, bytes]]) -> pa.RecordBatch:
    """Answers as rows of `ANSWER`."""
    names, bodies = [name for name, _ in answers], [body for _, body in answers]
    arrays = [pa.array(names, pa.string()), pa.array(bodies, pa.binary())]
    return pa.RecordBatch.from_arrays(arrays, names=["name", "body"])


def rows_from(rows: pa.Table, stands: Mapping[int, int]) -> pa.Table:
    """The rows at or above their partition's position."""
    for partition, offset in stands.items():
        if offset:
            below = pc.and_(pc.equal(rows["partition"], partition), pc.less(rows["offset"], offset))
            if pc.any(below).as_py():
                rows = rows.filter(pc.invert(below))
    return rows


def file_answer(
    name: str, rows: pa.Table, record: Record, folders: Mapping[str, Target]
) -> Iterator[tuple[str, bytes]]:
    """Writes rows into files of the table's folder, known to no table yet, whose names it answers. No rows: none.

    Few rows are answered themselves: the driver makes one file of those of all tasks, where a batch a second would
    leave one per core and second.
    """
    if not rows.num_rows:
        return
    schema, target = pa.schema(list(record.arrow_schema())), folders[name]
    whole = rows.append_column(DAY, days(rows)).select(schema.names).cast(schema)
    if whole.num_rows < FEW_ROWS:
        yield f"{_ROWS}{name}", ipc(whole)
        return
    for written in write_files(whole, Path(target.folder), by_day=target.by_day):
        yield name, json.dumps(asdict(written)).encode()


@dataclass
class NewRows:
    """What tasks have answered of a table that is appended to."""

    files: list[WrittenFile] = field(default_factory=list)
    few: list[pa.Table] = field(default_factory=list)

    def take(self, answer: str, body: bytes) -> None:
        """One answer of `file_answer`."""
        if answer.startswith(_ROWS):
            self.few.append(from_ipc(body))
        else:
            self.files.append(WrittenFile(**json.loads(body)))

    def __bool__(self) -> bool:
        return bool(self.files or self.few)

    def written(self, target: Target) -> list[WrittenFile]:
        """The files that hold all of it."""
        rest = write_files(pa.concat_tables(self.few), Path(target.folder), by_day=target.by_day) if self.few else []
        return [*self.files, *rest]


def table_of(answer: str) -> str:
    """The table that an answer of `file_answer` is about."""
    return answer.removeprefix(_ROWS)


def ipc(table: pa.Table) -> bytes:
    """A table as an Arrow IPC stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def from_ipc(body: bytes) -> pa.Table:
    """The table that `ipc` has written."""
    with pa.ipc.open_stream(body) as stream:
        return stream.read_all()
