"""One Delta table, written by Spark's executors with Delta's own jar: for a cluster. Nothing goes through the driver.

The table is made by `DeltaSink`, and read by it: the folder is one that driver and executors share. What differs is who
writes. Delta takes one application transaction per commit, so it carries ``STREAM-UUID = sum of all next offsets``,
which Delta enforces: a commit that adds nothing to the positions is left out. The positions themselves stand beside it
in the commit's metadata, as JSON; `DeltaSink.positions` reads both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

from deltalake import DeltaTable
from pyspark.sql import DataFrame, SparkSession

from lapwing.pipeline.sinks.commits import commits
from lapwing.pipeline.sinks.delta import LOG_KEPT, DeltaSink
from lapwing.pipeline.sinks.positions import POSITIONS_KEY

DELTA_SETTINGS: Mapping[str, str] = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    # The contracts have lists of rows whose members are never null; Delta cannot check that within lists.
    "spark.databricks.delta.constraints.allowUnenforcedNotNull.enabled": "true",
    # Of a table's log: 50 tasks after each commit, unless told otherwise. These tables have few files.
    "spark.databricks.delta.snapshotPartitions": "2",
}
"""Spark's, at its start."""

_EXTENSIONS = "spark.sql.extensions"
_TXN_APP = "spark.databricks.delta.write.txnAppId"
_TXN_VERSION = "spark.databricks.delta.write.txnVersion"
_METADATA = "spark.databricks.delta.commitInfo.userMetadata"
_CONFLICT = re.compile(r"(Concurrent\w+|MetadataChanged)Exception|DELTA_(CONCURRENT|METADATA_CHANGED)")
"""What Delta says where somebody else has committed what a commit depends on."""
_VIEW = "lapwing_complete_rows"


def delta_settings(given: Mapping[str, str]) -> dict[str, str]:
    """`DELTA_SETTINGS`, but for what ``given`` says already; Delta's extension stands beside those given."""
    wanted = {key: value for key, value in DELTA_SETTINGS.items() if key not in given}
    others, own = given.get(_EXTENSIONS), DELTA_SETTINGS[_EXTENSIONS]
    if others and own not in others.split(","):
        wanted[_EXTENSIONS] = f"{others},{own}"
    return wanted


class SparkDeltaSink(DeltaSink):
    """See `DeltaSink`; its tables may be read and written by either, one after the other."""

    log_kept: ClassVar[str] = "interval 30 days"
    """Positions stand in the log, and must not go while others commit and no job runs."""

    def _open(self) -> DeltaTable:
        table = super()._open()
        if table.metadata().configuration.get(LOG_KEPT) == DeltaSink.log_kept:
            table.alter.set_table_properties({LOG_KEPT: self.log_kept})
        return table

    def load(self, spark: SparkSession) -> DataFrame:
        """The table as it is now: later commits do not change what is read."""
        version = self._table.version()
        return spark.read.format("delta").option("versionAsOf", version).load(str(self.folder))

    def load_for_merge(self, spark: SparkSession) -> DataFrame:
        """The table as `merge_rows` finds it, which is given what was made of this: Delta reads both at one version."""
        return spark.read.format("delta").load(str(self.folder))

    def append_rows(self, rows: DataFrame, stream_uuid: str, done: Mapping[int, int]) -> int:
        """Appends; the table is then done up to the offsets ``done``. Returns how many rows that were."""
        columns = rows.select(self.record.names)
        return self._committed(
            rows.sparkSession,
            stream_uuid,
            done,
            lambda: columns.write.format("delta").mode("append").save(str(self.folder)),
        )

    def merge_rows(self, rows: DataFrame, stream_uuid: str, done: Mapping[int, int]) -> int:
        """Puts complete rows in place of those with the same key; returns how many rows were written."""
        rows.select(self.record.names).createOrReplaceTempView(_VIEW)
        same = " AND ".join(f"target.{key} <=> source.{key}" for key in self._keys)
        statement = (
            f"MERGE INTO delta.`{_quoted(self.folder)}` AS target USING {_VIEW} AS source ON {same}"
            " WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *"
        )
        spark = rows.sparkSession
        return self._committed(spark, stream_uuid, done, lambda: spark.sql(statement))

    def _committed(self, spark: SparkSession, uuid: str, done: Mapping[int, int], write: Callable[[], object]) -> int:
        """``done`` names each partition whose position delta-rs may have written; Spark's own are known here."""
        at = self._positions.forward(uuid, {**self._positions.of_spark(uuid), **done})
        moves = at != self.positions(uuid, list(at))
        before = self._table.version()
        try:
            with _said(spark, uuid, at):
                write()
        except Exception as error:
            if _CONFLICT.search(str(error)):
                raise self._conflict(error) from None
            raise
        self._take_up()
        if self._table.version() == before:
            if moves:
                raise self._unusable(
                    f"Delta has left out a commit that goes up to {dict(at)}", "report this: it is a bug"
                )
            return 0
        latest = next(commits(self.folder, self._table.version()), {})
        return int(latest.get("operationMetrics", {}).get("numOutputRows", 0))


def _quoted(folder: Path) -> str:
    """As a name of SQL within backticks."""
    return str(folder).replace("`", "``")


@contextmanager
def _said(spark: SparkSession, uuid: str, at: Mapping[int, int]) -> Iterator[None]:
    """Meanwhile commits carry the positions: one at a time, for the settings are the session's."""
    told = {
        _TXN_APP: uuid,
        _TXN_VERSION: str(sum(at.values())),
        _METADATA: json.dumps({POSITIONS_KEY: {uuid: {str(p): offset for p, offset in sorted(at.items())}}}),
    }
    for key, value in told.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key in told:
            spark.conf.unset(key)
