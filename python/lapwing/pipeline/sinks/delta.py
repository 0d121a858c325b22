"""One Delta table, written with delta-rs: no jar, on one machine."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction
from deltalake.exceptions import DeltaError, TableNotFoundError
from deltalake.transaction import AddAction
from pyspark.sql import DataFrame, SparkSession

from lapwing.contracts.fields import Record
from lapwing.pipeline.errors import TableError
from lapwing.pipeline.sinks.files import write_files

VERSION_KEY = "lapwing.record.version"
_CONFIGURATION = {"delta.enableDeletionVectors": "false", "delta.checkpointInterval": "50"}


class DeltaSink:
    """A table at ``folder`` with the columns of ``record``; made when it is not there.

    Args:
        folder: Of the table; a local path.
        record: Its columns.
        keys: What makes a row of an aggregate; empty for tables that are appended to.

    Raises:
        TableError: The folder cannot be written, or holds a table with other columns.
    """

    def __init__(self, folder: Path, record: Record, keys: Sequence[str] = ()) -> None:
        self.record = record
        self._folder = folder
        self._keys = tuple(keys)
        self._schema = pa.schema(list(record.arrow_schema()))
        self._table = self._open()

    def positions(self, stream_uuid: str, partitions: Sequence[int]) -> dict[int, int]:
        """Per partition the offset up to which this table is done; 0 for one it has not met."""
        done = {p: self._table.transaction_version(_app_id(stream_uuid, p)) for p in partitions}
        return {partition: int(offset or 0) for partition, offset in done.items()}

    def empty(self) -> bool:
        """Whether the table has no rows."""
        return not self._table.file_uris()

    def rows(self) -> int:
        """How many rows the table has."""
        return int(self._table.count())

    def read(self, spark: SparkSession) -> DataFrame:
        """The table as it stands now; later commits do not change what this DataFrame says."""
        files = self._table.file_uris()
        schema = self.record.spark_schema()
        return spark.read.schema(schema).parquet(*files) if files else spark.createDataFrame([], schema)

    def append(self, rows: DataFrame, stream_uuid: str, done: Mapping[int, int]) -> int:
        """Appends ``rows``; the table is then done up to the offsets ``done``. Returns how many rows that were."""
        files = write_files(rows, self._folder, self._schema)
        if files:
            now_ms = int(time.time() * 1000)
            actions: Any = [AddAction(f.path, f.size_bytes, {}, now_ms, True, f.stats()) for f in files]
            self._commit_files(actions, stream_uuid, done)
        return sum(file.rows for file in files)

    def merge(self, rows: DataFrame, stream_uuid: str, done: Mapping[int, int]) -> int:
        """Puts complete rows in place of those with the same key; returns how many rows that were."""
        source = rows.select(self.record.names).toArrow().cast(self._schema)
        if not source.num_rows:
            return 0
        same = " AND ".join(f"(target.{key} IS NOT DISTINCT FROM source.{key})" for key in self._keys)
        (
            self._table.merge(
                source,
                same,
                source_alias="source",
                target_alias="target",
                commit_properties=_commit(stream_uuid, done),
            )
            .when_matched_update_all()
            .when_not_matched_insert_all()
            .execute()
        )
        return int(source.num_rows)

    def record_done(self, stream_uuid: str, done: Mapping[int, int]) -> None:
        """Records ``done`` where there are no rows to commit it with."""
        if self.positions(stream_uuid, list(done)) != dict(done):
            self._commit_files([], stream_uuid, done)

    def _commit_files(self, actions: Any, stream_uuid: str, done: Mapping[int, int]) -> None:
        self._table.create_write_transaction(
            actions, "append", self._table.schema(), commit_properties=_commit(stream_uuid, done)
        )
        self._table.update_incremental()

    def _open(self) -> DeltaTable:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            (self._folder / "_delta_log").mkdir(exist_ok=True)
            table = self._found() or self._made()
        except OSError as error:
            raise self._unusable(f"{error.strerror or error}", "give an --out that this user may write") from None
        except DeltaError as error:
            raise self._unusable(str(error).splitlines()[0], "move the folder away, or give another --out") from None
        found = pa.schema(table.schema().to_arrow())
        if found.names != self._schema.names:
            raise self._unusable(
                f"it has the columns {', '.join(found.names)}", "it is of another release: give another --out"
            )
        return table

    def _found(self) -> DeltaTable | None:
        try:
            return DeltaTable(self._folder)
        except TableNotFoundError:
            return None

    def _made(self) -> DeltaTable:
        return DeltaTable.create(
            self._folder,
            self._schema,
            name=self.record.name,
            configuration={**_CONFIGURATION, VERSION_KEY: str(self.record.version)},
            raise_if_key_not_exists=False,
        )

    def _unusable(self, what: str, remedy: str) -> TableError:
        return TableError(f"table {self.record.name} cannot be used: {what}", where=str(self._folder), remedy=remedy)


def _app_id(stream_uuid: str, partition: int) -> str:
    return f"{stream_uuid}/{partition}"


def _commit(stream_uuid: str, done: Mapping[int, int]) -> CommitProperties:
    return CommitProperties(
        app_transactions=[Transaction(_app_id(stream_uuid, p), offset) for p, offset in sorted(done.items())]
    )
