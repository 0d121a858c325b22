"""Complete rows in place of those with the same key: the files in which these lie are written anew, and no other."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import CommitProperties, DeltaTable, PostCommitHookProperties
from deltalake.transaction import RemoveAction

from lapwing.pipeline.sinks.files import PARQUET, WrittenFile, read_batches, write_file, write_parts
from lapwing.pipeline.sinks.layout import HeldFile, cut, file_bytes, held_files, may_hold, times_of, to_join
from lapwing.pipeline.transforms.groups import touched

_LARGE = 4
"""Files so much larger than they are to be are of others, or of before: they are taken apart piece by piece."""

Joined = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.Table]]
"""Makes of rows, some at a time, the ones that are to stand in their place, some at a time."""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """What one commit does to an aggregate."""

    added: Sequence[WrittenFile]
    removed: Sequence[HeldFile]

    def removals(self) -> list[RemoveAction]:
        """As Delta says it."""
        now_ms = int(time.time() * 1000)
        return [RemoveAction(file.path, True, now_ms, size=file.size_bytes) for file in self.removed]


def time_column(schema: pa.Schema, keys: Sequence[str]) -> str | None:
    """The first of ``keys`` that is a time: by it rows lie in files."""
    return next((key for key in keys if pa.types.is_timestamp(schema.field(key).type)), None)


def rewritable(table: DeltaTable, schema: pa.Schema) -> bool:
    """Whether it is as a job makes it: others may have added columns, partitions or files of other places to it."""
    columns = [column.name for column in table.schema().fields]
    if sorted(columns) != sorted(schema.names) or table.metadata().partition_columns:
        return False
    return all(file.is_plain for file in held_files(table, columns[0]))


def merge_by_name(
    table: DeltaTable,
    keys: Sequence[str],
    rows: pa.Table,
    properties: CommitProperties,
    hooks: PostCommitHookProperties | None = None,
) -> None:
    """Delta's MERGE: leaves alone what others have added to ``table``; files are as large as they come."""
    same = " AND ".join(f"(target.{key} IS NOT DISTINCT FROM source.{key})" for key in keys)
    columns = {f"target.{name}": f"source.{name}" for name in rows.column_names}
    (
        table.merge(
            rows,
            same,
            source_alias="source",
            target_alias="target",
            commit_properties=properties,
            post_commithook_properties=hooks,
        )
        .when_matched_update(columns)
        .when_not_matched_insert(columns)
        .execute()
    )


def rewrite(table: DeltaTable, folder: Path, schema: pa.Schema, keys: Sequence[str], rows: pa.Table) -> Rewrite:
    """Writes the files with which ``rows`` replace those with the same ``keys``; no table knows them yet.

    Args:
        table: At the version on which ``rows`` were made.
        folder: Its own.
        schema: Its columns.
        keys: What makes a row.
        rows: Complete ones.
    """
    when = time_column(schema, keys)
    files = held_files(table, when or keys[0])
    removed = _with_a_key(may_hold(files, times_of(rows[when])) if when else files, folder, schema, when, keys, rows)
    order = [when, *(key for key in keys if key != when)] if when else list(keys)
    bytes_max = file_bytes(sum(file.size_bytes for file in files))
    small = [file for file in removed if file.size_bytes < _LARGE * bytes_max]
    parts = [rows] + [_others(part, rows, keys) for part in _read(small, folder, schema)]
    added = [write_file(part, folder) for part in cut(pa.concat_tables(parts), order, bytes_max)]
    for part in _read([file for file in removed if file not in small], folder, schema):
        added += [write_file(each, folder) for each in cut(_others(part, rows, keys), order, bytes_max)]
    return Rewrite(added, removed)


def rewrite_joined(table: DeltaTable, folder: Path, schema: pa.Schema, joined: Joined) -> Rewrite:
    """Writes one file in place of the small ones, with their rows as ``joined`` puts them together."""
    files = to_join(held_files(table, schema.names[0]))
    rows = joined(read_batches([str(folder / file.path) for file in files], schema))
    return Rewrite([write_parts(rows, schema, folder)], files)


def _with_a_key(
    files: Sequence[HeldFile],
    folder: Path,
    schema: pa.Schema,
    when: str | None,
    keys: Sequence[str],
    rows: pa.Table,
) -> list[HeldFile]:
    """Those of ``files`` that have a row with a key of ``rows``."""
    of_time = ds.field(when).isin(pc.unique(rows[when])) if when else None
    found = []
    for file in files:
        stored = ds.dataset([str(folder / file.path)], schema=schema, format=PARQUET)
        if touched(rows, stored.to_table(columns=list(keys), filter=of_time), keys).any():
            found.append(file)
    return found


def _read(files: Sequence[HeldFile], folder: Path, schema: pa.Schema) -> Iterator[pa.Table]:
    """The rows of ``files``, some at a time."""
    for batch in read_batches([str(folder / file.path) for file in files], schema):
        yield pa.Table.from_batches([batch], schema)


def _others(stored: pa.Table, rows: pa.Table, keys: Sequence[str]) -> pa.Table:
    return stored.filter(pa.array(~touched(rows, stored, keys)))
