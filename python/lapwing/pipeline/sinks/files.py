"""Rows -> Parquet files in a table's folder, written by Spark's tasks; what each wrote comes back as a row."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

_WRITTEN = "path string, size long, rows long"
_ROW_GROUP_ROWS = 250_000


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """A file that no table knows yet: it counts once it is committed, and is waste if the job is killed before."""

    path: str
    size_bytes: int
    rows: int

    def stats(self) -> str:
        """Delta's statistics of the file."""
        return json.dumps({"numRecords": self.rows})


def write_files(rows: DataFrame, folder: Path, schema: pa.Schema) -> list[WrittenFile]:
    """Writes ``rows`` into new files in ``folder``, one per non-empty Spark partition; durable on return."""

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        written = _write(batches, folder, schema)
        if written:
            columns = [[written.path], [written.size_bytes], [written.rows]]
            yield pa.RecordBatch.from_arrays([pa.array(c) for c in columns], names=["path", "size", "rows"])

    told = rows.select(schema.names).mapInArrow(write, _WRITTEN).collect()
    return [WrittenFile(row.path, row.size, row.rows) for row in told]


def _write(batches: Iterator[pa.RecordBatch], folder: Path, schema: pa.Schema) -> WrittenFile | None:
    first = next((batch for batch in batches if batch.num_rows), None)
    if first is None:
        return None
    name = f"part-{uuid.uuid4()}.zstd.parquet"
    rows = 0
    with (
        (folder / name).open("wb") as file,
        pq.ParquetWriter(file, schema, compression="zstd", compression_level=1) as writer,
    ):
        pending: list[pa.RecordBatch] = []
        for batch in _chained(first, batches):
            pending.append(pa.RecordBatch.from_arrays(batch.columns, schema=schema))
            rows += batch.num_rows
            if sum(each.num_rows for each in pending) >= _ROW_GROUP_ROWS:
                writer.write_table(pa.Table.from_batches(pending))
                pending = []
        if pending:
            writer.write_table(pa.Table.from_batches(pending))
        writer.close()
        file.flush()
        os.fsync(file.fileno())
    return WrittenFile(name, (folder / name).stat().st_size, rows)


def _chained(first: pa.RecordBatch, rest: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield first
    yield from rest
