"""The coverage job's tables on a cluster: every row stays on the executors, which write with Delta's jar.

The steps are those of `coverage_tables`, and so are the functions that do them; Spark moves the rows between, where one
machine's driver would. What is known of a batch's devices goes to the tasks as rows among the batch's own. Commits come
one after the other, for Delta takes positions by session; ``seen`` comes last. What reaches the driver is a row of
counts per partition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.storagelevel import StorageLevel

from lapwing.contracts.tables import SEEN
from lapwing.pipeline.jobs import reach
from lapwing.pipeline.jobs.aggregates import Aggregate, Transform
from lapwing.pipeline.jobs.coverage_tables import CoverageTables
from lapwing.pipeline.jobs.digest import Counts
from lapwing.pipeline.jobs.progress import BatchProgress, Phases
from lapwing.pipeline.sinks.delta_spark import SparkDeltaSink
from lapwing.pipeline.transforms.carried import first_copies, message_marks
from lapwing.pipeline.transforms.parse import PARSED
from lapwing.pipeline.transforms.repeats import classify, marks

_PARSED = pa.schema([field.with_nullable(True) for field in PARSED.arrow_schema()])
_SEEN = pa.schema(list(SEEN.arrow_schema()))
_FLAGS = {"first": pa.bool_(), "repeated": pa.bool_(), "late": pa.bool_(), "gap": pa.int64()}
_CLASSIFIED = pa.schema([*_PARSED, *(pa.field(name, kind) for name, kind in _FLAGS.items())])
_ARRIVED = pa.schema([*_PARSED, pa.field("block", pa.int64()), pa.field("mask", pa.int64())])


class ClusterTables(CoverageTables):
    """See `CoverageTables`; ``folder`` is one that the driver and all executors share."""

    sink = SparkDeltaSink

    def write(self, rows: DataFrame, batch: int) -> BatchProgress:
        """See `CoverageTables.write`."""
        phases = Phases()
        with phases.phase("batch"):
            stands = self._stands()
            parsed = rows.select(PARSED.names).persist(StorageLevel.MEMORY_AND_DISK)
            classified = self._classified(parsed, stands["seen"]).persist(StorageLevel.MEMORY_AND_DISK)
            try:
                with phases.phase("digest"):
                    counts = _counts(classified)
                written = self._write_all(classified, stands, counts, phases) if counts else {}
            finally:
                classified.unpersist()
                parsed.unpersist()
        return self._progress(batch, counts, stands["seen"], phases, written)

    def tidy(self, *, every_batches: int = 1) -> None:
        """Nothing: on a cluster ``OPTIMIZE`` is whoever's who runs it."""

    def _sink(self, name: str) -> SparkDeltaSink:
        sink = self._sinks[name]
        assert isinstance(sink, SparkDeltaSink)  # `sink` above has made them
        return sink

    def _classified(self, parsed: DataFrame, stands: Mapping[int, int]) -> DataFrame:
        """Each row with what it is to those before it; known rows left out."""
        seen = self._sink("seen").load(parsed.sparkSession)
        # A merge join: a broadcast would go through the driver.
        names = parsed.select(F.coalesce("device", "message_id").alias("device")).distinct()
        known = seen.join(names.hint("merge"), "device", "left_semi")
        arrived = parsed.unionByName(known, allowMissingColumns=True)

        def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            table = _as(batches, _ARRIVED)
            of_seen = table["mask"].is_valid()
            new = _from(table.filter(pc.invert(of_seen)).select(_PARSED.names), stands)
            refused, before = new["reason"].is_valid(), table.filter(of_seen).select(_SEEN.names).cast(_SEEN)
            valid = classify(new.filter(pc.invert(refused)), before)
            broken = _flagged(new.filter(refused), before)
            yield from pa.concat_tables([valid.cast(_CLASSIFIED), broken.cast(_CLASSIFIED)]).to_batches()

        together = arrived.select(_ARRIVED.names).repartition(F.coalesce("device", "message_id", "client_id"))
        return together.mapInArrow(task, from_arrow_schema(_CLASSIFIED))

    def _write_all(
        self,
        classified: DataFrame,
        stands: Mapping[str, Mapping[int, int]],
        counts: Mapping[int, Counts],
        phases: Phases,
    ) -> dict[str, int]:
        # The others, too: the sink adds up all positions.
        done = {**dict.fromkeys(self._partitions, 0), **reach.done(counts)}
        valid = classified.where(F.col("reason").isNull())
        broken = classified.where(F.col("reason").isNotNull())
        rows = {
            "readings": valid.where("first").where(_above(stands["readings"])),
            "quarantine": broken.where("first").where(_above(stands["quarantine"])),
        }
        written = {}
        for name, new in rows.items():
            with phases.phase(name):
                written[name] = self._sink(name).append_rows(new, self._uuid, done)
            self._committed(name)
        for aggregate in self._aggregates:
            with phases.phase(aggregate.name):
                new = valid.where(_above(stands[aggregate.name]))
                written[aggregate.name] = self._merge_rows(aggregate, new, done)
            self._committed(aggregate.name)
        with phases.phase("seen"):
            new_marks = _mapped(classified, _CLASSIFIED, _all_marks)
            written["seen"] = self._sink("seen").append_rows(new_marks, self._uuid, done)
        self._committed("seen")
        return written

    def _merge_rows(self, aggregate: Aggregate, new: DataFrame, done: Mapping[int, int]) -> int:
        """Parts and the rows of the table that they touch, apart again, as complete rows."""
        sink = self._sink(aggregate.name)
        parts = _mapped(new, _CLASSIFIED, aggregate.part).persist(StorageLevel.MEMORY_AND_DISK)
        try:
            stored = sink.load(new.sparkSession)
            keys = parts.select(*aggregate.keys).distinct().alias("part").hint("merge")
            same = [F.col(f"part.{key}").eqNullSafe(F.col(f"stored.{key}")) for key in aggregate.keys]
            touched = stored.alias("stored").join(keys, reduce(Column.__and__, same), "left_semi")
            table = pa.schema(list(sink.record.arrow_schema()))
            apart = _mapped(touched, table, aggregate.apart)
            shared = parts.unionByName(apart).repartition(*aggregate.keys)
            parts_schema = aggregate.part(_CLASSIFIED.empty_table()).schema
            return sink.merge_rows(_mapped(shared, parts_schema, aggregate.joined), self._uuid, done)
        finally:
            parts.unpersist()


def _counts(classified: DataFrame) -> dict[int, Counts]:
    def total(condition: Column) -> Column:
        return F.sum(F.when(condition, 1).otherwise(0))

    valid = F.col("reason").isNull()
    summed = classified.groupBy("partition").agg(
        F.count("*").alias("rows"),
        total(valid & F.col("first")).alias("readings"),
        total(~F.col("first")).alias("repeated"),
        total(~valid & F.col("first")).alias("quarantined"),
        F.coalesce(F.sum("gap"), F.lit(0)).alias("gap"),
        total(F.coalesce("late", F.lit(False))).alias("late"),
        F.min("offset").alias("lowest"),
        F.max("offset").alias("highest"),
    )
    return {
        row.partition: Counts(
            rows=row.rows,
            readings=row.readings,
            repeated=row.repeated,
            quarantined=row.quarantined,
            lost=row.gap - row.late,
            lowest=row.lowest,
            next=row.highest + 1,
        )
        for row in summed.collect()
    }


def _flagged(broken: pa.Table, seen: pa.Table) -> pa.Table:
    """Rows that broke the contract, with the columns of `_FLAGS`: they have no serial, so no gap."""
    first = first_copies(broken, seen)
    flags = {"first": pa.array(first), "repeated": pa.array(~first)}
    for name, kind in _FLAGS.items():
        broken = broken.append_column(name, flags.get(name, pa.nulls(broken.num_rows, kind)))
    return broken


def _all_marks(classified: pa.Table) -> pa.Table:
    valid = classified["reason"].is_null()
    kept = classified.filter(pc.and_(pc.invert(valid), classified["first"]))
    return pa.concat_tables([marks(classified.filter(valid)), message_marks(kept)])


def _above(stands: Mapping[int, int]) -> Column:
    """Whether a row is at or above its partition's position."""
    below = [(F.col("partition") == p) & (F.col("offset") < offset) for p, offset in stands.items() if offset]
    return ~reduce(Column.__or__, below) if below else F.lit(True)


def _from(rows: pa.Table, stands: Mapping[int, int]) -> pa.Table:
    from lapwing.pipeline.jobs.answers import rows_from

    return rows_from(rows, stands)


def _mapped(rows: DataFrame, schema: pa.Schema, transform: Transform) -> DataFrame:
    """What ``transform`` makes of each task's rows."""

    def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from transform(_as(batches, schema)).to_batches()

    made = transform(schema.empty_table()).schema
    nullable = pa.schema([field.with_nullable(True) for field in made])
    return rows.select(schema.names).mapInArrow(task, from_arrow_schema(nullable))


def _as(batches: Iterator[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    """A task's rows as one table; Spark says of every column that it may be null."""
    named = pa.schema([field.with_nullable(True) for field in schema])
    return pa.Table.from_batches([batch.cast(named) for batch in batches], named).cast(schema)
