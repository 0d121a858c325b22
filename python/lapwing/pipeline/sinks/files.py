"""Rows -> a Parquet file in a table's folder, durable, known to no table until it is committed."""

from __future__ import annotations

import json
import os
import uuid
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

PARQUET = ds.ParquetFileFormat(read_options=ds.ParquetReadOptions(coerce_int96_timestamp_unit="us"))
"""How files of tables are read: a Spark that rewrites them may write times as INT96, which others take for naive."""


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """It counts once it is committed, and is waste if the job is killed before."""

    path: str
    """Relative to the table's folder."""
    size_bytes: int
    rows: int

    def stats(self) -> str:
        """Delta's statistics of the file."""
        return json.dumps({"numRecords": self.rows})


def write_file(rows: pa.Table, folder: Path) -> WrittenFile:
    """Writes ``rows`` into a new file in ``folder``."""
    name = f"part-{uuid.uuid4()}.zstd.parquet"
    path = folder / name
    with path.open("wb") as file:
        pq.write_table(rows, file, compression="zstd", compression_level=1)
        file.flush()
        os.fsync(file.fileno())
    return WrittenFile(name, path.stat().st_size, rows.num_rows)
