"""What Spark's tasks answer to the driver: a name and bytes per row, few of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from lapwing.contracts.fields import Record
from lapwing.pipeline.jobs.task_plan import Target
from lapwing.pipeline.sinks.files import write_files
from lapwing.pipeline.transforms.days import DAY, days

ANSWER = "name string, body binary"
"""The schema, as Spark writes it."""


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
    """Writes rows into files of the table's folder, known to no table yet, whose names it answers. No rows: none."""
    if not rows.num_rows:
        return
    schema, target = pa.schema(list(record.arrow_schema())), folders[name]
    whole = rows.append_column(DAY, days(rows)).select(schema.names).cast(schema)
    for written in write_files(whole, Path(target.folder), by_day=target.by_day):
        yield name, json.dumps(asdict(written)).encode()


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
