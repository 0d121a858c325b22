"""What each reading is to those before it: new, repeated, late, or revealing a gap.

A message's position is (partition, offset); the stream's key keeps a device on one partition. Serials start at 0 on
each boot and rise by one. Going through a device's readings of one boot in order of position, with ``top`` the highest
serial so far (-1 at first):

    serial > top                 new; ``gap`` = serial - top - 1 serials were skipped, and count here
    serial < top, not yet seen   new and late: it fills a gap that was counted (``recovered``), out of order (``reordered``)
    already seen                 ``repeated``

So lost = gap - recovered, over any range, whatever the cut into batches: what a row is depends on the rows before
it and on nothing else. What came before the batch is known from the table ``seen``: one bit per reading.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

BLOCK_BITS = 6
"""A row of ``seen`` has the bits of 2**6 serials."""


def classify(parsed: DataFrame, seen: DataFrame) -> DataFrame:
    """Adds what each row is to those before it.

    Args:
        parsed: Rows of `lapwing.pipeline.transforms.parse.PARSED`.
        seen: The table ``seen`` as it stood before the first of these rows.

    Returns:
        ``parsed`` with booleans ``first`` (the first copy of a valid reading), ``repeated``, ``late`` and the long
        ``gap``; false and 0 where ``reason`` is set.
    """
    keyed = parsed.withColumn("who", F.coalesce("device", "client_id")).withColumn(
        "block", F.shiftright("serial", BLOCK_BITS)
    )
    known = (
        keyed.repartition("who")
        .join(seen.select("device", "boot", "block", "mask"), ["device", "boot", "block"], "left")
        .join(highest(seen), ["device", "boot"], "left")
    )
    position = [F.col("partition"), F.col("offset")]
    before = Window.partitionBy("who", "boot").orderBy(*position).rowsBetween(Window.unboundedPreceding, -1)
    copies = Window.partitionBy("who", "boot", "serial").orderBy(*position)
    nothing = F.lit(-1).cast("long")
    top = F.greatest(F.coalesce("top", nothing), F.coalesce(F.max("serial").over(before), nothing))
    in_seen = F.coalesce(F.bit_get("mask", F.col("serial").bitwiseAND(63).cast("int")), F.lit(0)) == 1
    valid = F.col("reason").isNull()
    return (
        known.withColumn("before", top)
        .withColumn("first", valid & (F.row_number().over(copies) == 1) & ~in_seen)
        .withColumn("repeated", valid & ~F.col("first"))
        .withColumn("late", F.col("first") & (F.col("serial") < F.col("before")))
        .withColumn(
            "gap",
            F.when(F.col("first") & ~F.col("late"), F.col("serial") - F.col("before") - 1).otherwise(F.lit(0)),
        )
        .drop("who", "block", "mask", "top", "before")
    )


def highest(seen: DataFrame) -> DataFrame:
    """Per device and boot the highest serial in ``seen``, as ``top``."""
    last = F.max(F.struct("block", "mask"))
    # bin() drops leading zeros, so its length tells the highest bit; a negative mask has bit 63 set.
    top = F.shiftleft(F.col("last.block"), BLOCK_BITS) + F.length(F.bin("last.mask")) - 1
    return seen.groupBy("device", "boot").agg(last.alias("last")).select("device", "boot", top.alias("top"))


def marks(classified: DataFrame) -> DataFrame:
    """The rows of ``seen`` that a batch adds bits to, with those bits only."""
    bit = F.expr("shiftleft(1L, cast(serial & 63 as int))")
    block = F.shiftright("serial", BLOCK_BITS).alias("block")
    first = classified.where("first").select("device", "boot", block, bit.alias("bit"))
    return first.groupBy("device", "boot", "block").agg(F.bit_or("bit").alias("mask"))


def joined_marks(marks_: DataFrame) -> DataFrame:
    """Rows of ``seen``, some for the same block, as one row per block."""
    return marks_.groupBy("device", "boot", "block").agg(F.bit_or("mask").alias("mask"))
