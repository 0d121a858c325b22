"""Rows -> a Parquet file in a table's folder, durable, known to no table until it is committed."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from lapwing.pipeline.transforms.days import DAY
from lapwing.pipeline.transforms.days import by_day as of_days

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_ENCODING: Mapping[str, Any] = {"compression": "zstd", "compression_level": 1}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_US, _LAST_US = -62_135_596_800_000_000, 253_402_300_799_000_000
"""The years 1 to 9999: of columns with other times no bounds are said."""

PARQUET = ds.ParquetFileFormat(read_options=ds.ParquetReadOptions(coerce_int96_timestamp_unit="us"))
"""How files of tables are read: a Spark that rewrites them may write times as INT96, which others take for naive."""


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """It counts once it is committed, and is waste if the job is killed before."""

    path: str
    """Relative to the table's folder."""
    size_bytes: int
    rows: int
    lowest: Mapping[str, Any] = field(default_factory=dict)
    """By column; of whole numbers and times, as Delta says them. Columns that are all null are not named."""
    highest: Mapping[str, Any] = field(default_factory=dict)
    nulls: Mapping[str, int] = field(default_factory=dict)
    partition: Mapping[str, str | None] = field(default_factory=dict)

    def stats(self) -> str:
        """Delta's statistics of the file: by them readers, and a retention by day, leave files alone."""
        known = {"minValues": self.lowest, "maxValues": self.highest, "nullCount": self.nulls}
        return json.dumps({"numRecords": self.rows, **known})


def write_file(rows: pa.Table, folder: Path, partition: Mapping[str, str | None] | None = None) -> WrittenFile:
    """Writes ``rows`` into a new file in ``folder``, or in the folder of their ``partition`` below it."""
    below = "".join(f"{name}={value or _NO_VALUE}/" for name, value in (partition or {}).items())
    name = f"{below}part-{uuid.uuid4()}.zstd.parquet"
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    with path.open("wb") as file:
        pq.write_table(rows, file, **_ENCODING)
        file.flush()
        os.fsync(file.fileno())
    lowest, highest = _bounds(rows)
    nulls = {column: rows[column].null_count for column in rows.column_names if column in lowest}
    return WrittenFile(name, path.stat().st_size, rows.num_rows, lowest, highest, nulls, partition or {})


def encoded(rows: pa.Table) -> pa.Buffer:
    """``rows`` as the bytes of a file; for few."""
    sink = pa.BufferOutputStream()
    pq.write_table(rows, sink, **_ENCODING)
    return sink.getvalue()


def write_files(rows: pa.Table, folder: Path, *, by_day: bool) -> list[WrittenFile]:
    """Writes rows that have a day into one new file for each; or into one."""
    if not by_day:
        return [write_file(rows, folder)]
    return [write_file(part, folder, {DAY: day}) for day, part in of_days(rows)]


def _bounds(rows: pa.Table) -> tuple[dict[str, Any], dict[str, Any]]:
    """The lowest and the highest value of each column of whole numbers or times."""
    lowest, highest = {}, {}
    for column in rows.schema:
        of_time = pa.types.is_timestamp(column.type)
        if of_time or pa.types.is_integer(column.type):
            found = pc.min_max(rows[column.name].cast(pa.int64())).as_py()
            if found["min"] is None or (of_time and not _FIRST_US <= found["min"] <= found["max"] <= _LAST_US):
                continue
            # Statistics of times are in milliseconds: rounded outwards, so that nothing lies beyond them.
            lowest[column.name] = _time(found["min"] // 1000) if of_time else found["min"]
            highest[column.name] = _time(-(-found["max"] // 1000)) if of_time else found["max"]
    return lowest, highest


def _time(ms: int) -> str:
    told = (_EPOCH + timedelta(milliseconds=ms)).isoformat(timespec="milliseconds")
    return told.replace("+00:00", "Z")
