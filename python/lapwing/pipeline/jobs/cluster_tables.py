"""The coverage job's tables on a cluster: every row stays on the executors, which write with Delta's jar.

The steps are those of `coverage_tables`, and so are the functions that do them; Spark moves the rows between, where one
machine's driver would. What is known of a batch's devices goes to the tasks as rows among the batch's own. Commits come
one after the other, for Delta takes positions by session; ``seen`` comes last. What reaches the driver is a row of
counts per partition.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import reduce

import numpy as np
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
from lapwing.pipeline.transforms.days import DAY
from lapwing.pipeline.transforms.misplaced import misplaced
from lapwing.pipeline.transforms.parse import PARSED
from lapwing.pipeline.transforms.repeats import FLAGS, classify, marks

_PARSED = pa.schema([field.with_nullable(True) for field in PARSED.arrow_schema()])
_SEEN = pa.schema(list(SEEN.arrow_schema()))
# Spark has no unsigned numbers.
_SPARK_FLAGS = {name: pa.int32() if kind == pa.uint16() else kind for name, kind in FLAGS.items()}
_CLASSIFIED = pa.schema([*_PARSED, *(pa.field(name, kind) for name, kind in _SPARK_FLAGS.items())])
_ARRIVED = pa.schema(
    [*_PARSED, pa.field("block", pa.int64()), pa.field("mask", pa.int64()), pa.field("prints", pa.binary())]
)


_QUARANTINED = "reason IS NOT NULL AND NOT repeated"


class ClusterTables(CoverageTables):
    """See `CoverageTables`; ``folder`` is one that the driver and all executors share."""

    sink = SparkDeltaSink

    def write(self, rows: DataFrame, batch: int) -> BatchProgress:
        """See `CoverageTables.write`."""
        phases = Phases()
        with phases.phase("batch"):
            stands = self._stands()
            begun_at = self._begun_at(stands["seen"])
            parsed = rows.select(PARSED.names).persist(StorageLevel.MEMORY_AND_DISK)
            holes = self._holes(parsed, stands["seen"])
            classified = self._classified(parsed, stands["seen"], self._starts(), holes)
            classified = classified.persist(StorageLevel.MEMORY_AND_DISK)
            try:
                with phases.phase("digest"):
                    counts = _counts(classified)
                written = self._write_all(classified, stands, counts, phases) if counts else {}
            finally:
                classified.unpersist()
                parsed.unpersist()
        return self._progress(batch, counts, begun_at, phases, written)

    def tidy(self, *, every_batches: int = 1) -> None:
        """Nothing: on a cluster ``OPTIMIZE`` is whoever's who runs it."""

    def _sink(self, name: str) -> SparkDeltaSink:
        sink = self._sinks[name]
        assert isinstance(sink, SparkDeltaSink)  # `sink` above has made them
        return sink

    def _classified(
        self, parsed: DataFrame, stands: Mapping[int, int], starts: Mapping[int, int], holes: Collection[int]
    ) -> DataFrame:
        """Each row with what it is to those before it; known rows left out."""
        seen = self._sink("seen").load(parsed.sparkSession)
        # A merge join: a broadcast would go through the driver.
        home = F.coalesce("device", "message_id", "client_id").alias("home")
        names = parsed.select(home, F.explode(F.array("device", "message_id")).alias("device"))
        known = seen.join(names.where("device IS NOT NULL").distinct().hint("merge"), "device")
        arrived = parsed.withColumn("home", home).unionByName(known, allowMissingColumns=True)

        def task(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            table = _as(batches, _ARRIVED)
            of_seen = table["mask"].is_valid()
            new = _from(table.filter(pc.invert(of_seen)).select(_PARSED.names), stands)
            refused, before = new["reason"].is_valid(), table.filter(of_seen).select(_SEEN.names).cast(_SEEN)
            valid, broken = new.filter(pc.invert(refused)), new.filter(refused)
            first = pa.array(first_copies(broken, before))
            kept, again = broken.filter(first), broken.filter(pc.invert(first))
            with_serial = kept["serial"].is_valid()
            classified = classify(pa.concat_tables([valid, kept.filter(with_serial)]), before, starts, holes=holes)
            nameless = kept.filter(pc.invert(with_serial))
            parts = [_judged(classified), _flagged(nameless), _flagged(again, repeated=True)]
            yield from pa.concat_tables([part.cast(_CLASSIFIED) for part in parts]).to_batches()

        together = arrived.repartition("home").select(_ARRIVED.names)
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
        # What has flags of its own: copies of broken messages, and those without a serial, are nobody's loss.
        valid = classified.where(F.col("gap").isNotNull())
        rows = {
            "readings": valid.where("first").where(_above(stands["readings"])),
            "quarantine": classified.where(_QUARANTINED).where(_above(stands["quarantine"])),
        }
        day = F.date_format(F.coalesce("ingress_at", "observed_at"), "yyyy-MM-dd")
        written = {}
        for name, new in rows.items():
            with phases.phase(name):
                written[name] = self._sink(name).append_rows(new.withColumn(DAY, day), self._uuid, done)
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
            # Not the version that this batch began with: rows that somebody has deleted since would come back.
            stored = sink.load_for_merge(new.sparkSession)
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

    summed = classified.groupBy("partition").agg(
        F.count("*").alias("rows"),
        total(F.col("first")).alias("readings"),
        total(F.col("repeated")).alias("repeated"),
        total(F.expr(_QUARANTINED)).alias("quarantined"),
        *(F.coalesce(F.sum(name), F.lit(0)).alias(name) for name in ("gap", "recovered", "before_start")),
        F.min("offset").alias("lowest"),
        F.max("offset").alias("highest"),
    )
    return {
        row.partition: Counts(
            rows=row.rows,
            readings=row.readings,
            repeated=row.repeated,
            quarantined=row.quarantined,
            lost=row.gap - row.recovered,
            before_start=row.before_start,
            lowest=row.lowest,
            next=row.highest + 1,
        )
        for row in summed.collect()
    }


def _judged(classified: pa.Table) -> pa.Table:
    """With a reason and the payload where the serial is another's."""
    of_serials = pc.and_(classified["reason"].is_null(), pc.or_(classified["reused"], classified["jumped"]))
    found = classified.filter(of_serials)
    told = misplaced(classified)
    for name in PARSED.names:
        found = found.set_column(found.column_names.index(name), name, told[name])
    return pa.concat_tables([classified.filter(pc.invert(of_serials)), found])


def _flagged(broken: pa.Table, *, repeated: bool = False) -> pa.Table:
    """Rows that broke the contract and have no serial, with the columns of ``FLAGS``: null but for whether repeated."""
    no = pa.array(np.zeros(broken.num_rows, dtype=bool))
    flags = {"first": no, "repeated": pc.invert(no) if repeated else no}
    for name, kind in _SPARK_FLAGS.items():
        broken = broken.append_column(name, flags.get(name, pa.nulls(broken.num_rows, kind)))
    return broken


def _all_marks(classified: pa.Table) -> pa.Table:
    with_serial = classified.filter(classified["gap"].is_valid())
    kept = classified.filter(pc.and_(classified["reason"].is_valid(), pc.invert(classified["repeated"])))
    # A reading whose serial is another's has a reason by now, and is no broken message: it leaves no mark.
    misplaced_too = pc.or_(with_serial["reused"], with_serial["jumped"])
    return pa.concat_tables([marks(with_serial.filter(pc.invert(misplaced_too))), message_marks(kept)])


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
