"""The table ``seen``: what a job remembers of all that has come, read by its tasks and written by its driver, last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from lapwing.contracts.tables import SEEN
from lapwing.pipeline.sinks.delta import DeltaSink
from lapwing.pipeline.sinks.files import PARQUET, write_file
from lapwing.pipeline.sinks.parts import in_parts
from lapwing.pipeline.transforms.seen_rows import joined_marks, spread

_FILES_MAX = 32
"""``seen`` is appended to: its rows for one block are joined by "or". So many files, and the small ones are made one:
to write all of them would be to write all that the job remembers, again and again."""
_SCHEMA = pa.schema(list(SEEN.arrow_schema()))


def seen_of(names: Sequence[pa.ChunkedArray], files: Sequence[str], *, prints: bool = False) -> pa.Table:
    """The rows of some devices and messages.

    Args:
        names: Their names, any number of columns; nulls name nobody.
        files: Those of the table, as the batch before left it.
        prints: Whether with what the readings said: nine tenths of the table, and seldom asked for.
    """
    columns = [name for name in _SCHEMA.names if prints or name != "prints"]
    wanted = pc.unique(pa.chunked_array([part for each in names for part in each.chunks], pa.string()).drop_null())
    if not files or not len(wanted):
        return _SCHEMA.empty_table().select(columns)
    found = ds.dataset(list(files), schema=_SCHEMA, format=PARQUET)
    return found.to_table(columns=columns, filter=ds.field("device").isin(wanted))


def mark(sink: DeltaSink, parts: Sequence[pa.Table], stream_uuid: str, done: Mapping[int, int]) -> int:
    """Commits what a batch adds, be it nothing: the table is done up to ``done`` then. Returns how many rows it is."""
    rows = joined_marks(pa.concat_tables([_SCHEMA.empty_table(), *parts]))
    files = [write_file(rows, sink.folder)] if rows.num_rows else []
    sink.append(files, stream_uuid, done)
    if len(sink.files()) > _FILES_MAX:
        sink.join(partial(_joined, sink.folder))
        sink.clean()
    return int(rows.num_rows)


def make_one_file(sink: DeltaSink) -> None:
    """Joins all rows that the table has, in one commit. Memory is that of a part, however large the table is."""
    sink.join(partial(_joined, sink.folder), everything=True)


def _joined(folder: Path, rows: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    with closing(in_parts(rows, spread, _SCHEMA, folder)) as parts:
        for part in parts:
            yield joined_marks(part)
