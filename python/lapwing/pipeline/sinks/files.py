"""Rows -> a Parquet file in a table's folder, durable, known to no table until it is committed."""

from __future__ import annotations

import json
import os
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
_NOTHING_AHEAD = ds.ParquetFragmentScanOptions(use_buffered_stream=True, pre_buffer=False)


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
    return write_parts([rows], rows.schema, folder, partition)


def write_parts(
    parts: Iterable[pa.Table], schema: pa.Schema, folder: Path, partition: Mapping[str, str | None] | None = None
) -> WrittenFile:
    """`write_file` for rows that need not be there all at once: one part is held at a time. Where one cannot be had or
    written there is no file.
    """
    below = "".join(f"{name}={value or _NO_VALUE}/" for name, value in (partition or {}).items())
    name = f"{below}part-{uuid.uuid4()}.zstd.parquet"
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    bounds, rows = _Bounds(), 0
    try:
        with path.open("wb") as file:
            with pq.ParquetWriter(file, schema, **_ENCODING) as writer:
                for part in parts:
                    writer.write_table(part.cast(schema))
                    bounds.add(part)
                    rows += part.num_rows
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    said = bounds.lowest(), bounds.highest(), bounds.nulls()
    return WrittenFile(name, path.stat().st_size, rows, *said, partition or {})


def read_batches(files: Sequence[str], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of ``files``, one batch after the other: nothing is read ahead."""
    if files:
        yield from ds.dataset(list(files), schema=schema, format=PARQUET).to_batches(
            batch_readahead=0, fragment_readahead=0, fragment_scan_options=_NOTHING_AHEAD
        )


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


class _Bounds:
    """The lowest and the highest value of each column of whole numbers or times, and how many nulls it has."""

    def __init__(self) -> None:
        self._of_time: dict[str, bool] = {}
        self._lowest: dict[str, int] = {}
        self._highest: dict[str, int] = {}
        self._nulls: Counter[str] = Counter()

    def add(self, rows: pa.Table) -> None:
        for column in rows.schema:
            of_time = pa.types.is_timestamp(column.type)
            if of_time or pa.types.is_integer(column.type):
                name, values = column.name, rows[column.name]
                self._of_time[name] = of_time
                self._nulls[name] += values.null_count
                found = pc.min_max(values.cast(pa.int64())).as_py()
                if found["min"] is not None:
                    self._lowest[name] = min(found["min"], self._lowest.get(name, found["min"]))
                    self._highest[name] = max(found["max"], self._highest.get(name, found["max"]))

    def lowest(self) -> dict[str, Any]:
        """Statistics of times are in milliseconds: rounded outwards, so that nothing lies beyond them."""
        return {name: _time(low // 1000) if self._of_time[name] else low for name, low, _ in self._known()}

    def highest(self) -> dict[str, Any]:
        return {name: _time(-(-high // 1000)) if self._of_time[name] else high for name, _, high in self._known()}

    def nulls(self) -> dict[str, int]:
        return {name: self._nulls[name] for name, _, _ in self._known()}

    def _known(self) -> Iterator[tuple[str, int, int]]:
        for name, low in self._lowest.items():
            high = self._highest[name]
            if not self._of_time[name] or _FIRST_US <= low <= high <= _LAST_US:
                yield name, low, high


def _time(ms: int) -> str:
    told = (_EPOCH + timedelta(milliseconds=ms)).isoformat(timespec="milliseconds")
    return told.replace("+00:00", "Z")
