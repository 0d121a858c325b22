"""How the rows of an aggregate lie in a table's files: by time, in files of a bounded size.

Delta's files are never changed: who changes a row writes its file anew. So what one late reading costs is the size of
the file in which its row lies, and how much one batch costs that of the files with the latest rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable

from lapwing.pipeline.sinks.files import encoded
from lapwing.pipeline.transforms.groups import Ints, ints

FILE_BYTES_MIN = 64 * 1024
"""Below it a file is mostly what Parquet says of its columns."""
FILE_BYTES_MAX = 16 * 1024 * 1024
_FILES = 256
"""A table has some more files than these when its own size decides how large they are."""
_PLAIN = re.compile(r"[A-Za-z0-9._-]+")
_SAMPLE_ROWS = 4_096
_MS_US = 1_000


def file_bytes(table_bytes: int) -> int:
    """How large a file of an aggregate is to be, where all of them are ``table_bytes``."""
    return min(max(table_bytes // _FILES, FILE_BYTES_MIN), FILE_BYTES_MAX)


@dataclass(frozen=True, slots=True)
class HeldFile:
    """A file of a table, as its log has it."""

    path: str
    """Relative to the table's folder, where `is_plain`."""
    size_bytes: int
    lowest_us: int | None
    """Of the column that was asked for; None: nobody knows."""
    highest_us: int | None

    @property
    def is_plain(self) -> bool:
        """Whether its path says where it is, whatever a URI would make of it."""
        return _PLAIN.fullmatch(self.path) is not None


def held_files(table: DeltaTable, when: str) -> list[HeldFile]:
    """The files of ``table``, with the bounds of its column of times ``when``."""
    said = pa.table(table.get_add_actions(flatten=True))
    lowest, highest = (_micros(said, f"{bound}.{when}") for bound in ("min", "max"))
    columns = (said[name].to_pylist() for name in ("path", "size_bytes"))
    return [HeldFile(*each) for each in zip(*columns, lowest, highest, strict=True)]


def _micros(said: pa.Table, name: str) -> list[int | None]:
    if name not in said.column_names or not pa.types.is_timestamp(said.schema.field(name).type):
        return [None] * said.num_rows
    found: list[int | None] = said[name].cast(pa.timestamp("us", "UTC")).cast(pa.int64()).to_pylist()
    return found


def may_hold(files: Sequence[HeldFile], times_us: Ints) -> list[HeldFile]:
    """Those of ``files`` that may have a row with one of the times."""
    wanted = np.unique(times_us)
    return [file for file in files if _has_one(file, wanted)]


def _has_one(file: HeldFile, wanted: Ints) -> bool:
    if file.lowest_us is None or file.highest_us is None:
        return True
    # Delta's bounds of times are in milliseconds, and may be cut down to them.
    first = int(np.searchsorted(wanted, file.lowest_us))
    return first < len(wanted) and bool(wanted[first] < file.highest_us + _MS_US)


def to_join(files: Sequence[HeldFile]) -> list[HeldFile]:
    """The small ones: the smallest two, and each that is no larger than all smaller ones together.

    So a byte is written anew only where its file doubles, about: 20 times until a file is as large as a million.
    """
    chosen: list[HeldFile] = []
    total = 0
    for file in sorted(files, key=lambda each: each.size_bytes):
        if len(chosen) >= 2 and file.size_bytes > total:
            break
        chosen.append(file)
        total += file.size_bytes
    return chosen


def cut(rows: pa.Table, keys: Sequence[str], bytes_max: int) -> list[pa.Table]:
    """``rows`` by ``keys``, in parts of which each becomes a file of ``bytes_max`` at most, about."""
    ordered = rows.sort_by([(key, "ascending") for key in keys])
    parts = max(1, round(rows.num_rows * row_bytes(ordered) / bytes_max))
    ends = [rows.num_rows * part // parts for part in range(parts + 1)]
    return [ordered.slice(begin, end - begin) for begin, end in pairwise(ends) if end > begin]


def row_bytes(rows: pa.Table) -> float:
    """How large a row is in a file, as some of them show."""
    some = rows.slice(0, _SAMPLE_ROWS)
    size: int = encoded(some).size
    return size / max(int(some.num_rows), 1)


def times_of(column: pa.Array | pa.ChunkedArray) -> Ints:
    """A column of times as microseconds, without its nulls."""
    return ints(pc.drop_null(column))


def table_bytes(table: DeltaTable) -> int:
    """How large all of the files of ``table`` are."""
    return int(pc.sum(pa.table(table.get_add_actions())["size_bytes"]).as_py() or 0)
