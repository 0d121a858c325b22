"""Histograms as sorted lists of (bin, count): mergeable, in any order, with the same result each time.

Percentiles are nearest rank: the smallest bin with at least ``p`` of the count at or below it. Ranks are reckoned in
whole numbers: in floating point 0.1 x 30 is more than 3.
"""

from __future__ import annotations

import math

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

BUCKET_WIDTH = 1.02
"""A logarithmic bucket's upper edge over its lower one; its middle is within 1 % of everything in it."""


def gathered(bin_name: str, bin_: Column, count: Column) -> Column:
    """Aggregate: rows of (bin, count), each bin at most once per group, as a sorted histogram; null bins stay out."""
    pair = F.struct(bin_.cast("int").alias(bin_name), count.cast("long").alias("count"))
    return F.sort_array(F.collect_list(F.when(bin_.isNotNull() & (count > 0), pair)))


def total(histogram: Column) -> Column:
    """The count of a histogram."""
    return F.aggregate(histogram, F.lit(0).cast("long"), lambda sum_, pair: sum_ + pair["count"])


def percentile(histogram: Column, bin_name: str, per_mille: int) -> Column:
    """The bin at ``per_mille`` thousandths; null for an empty histogram."""
    rank = F.floor((total(histogram) * per_mille + 999) / 1000).cast("long")
    start = F.struct(F.lit(0).cast("long").alias("sum"), F.lit(None).cast("int").alias("at"))

    def step(state: Column, pair: Column) -> Column:
        return F.struct(
            (state["sum"] + pair["count"]).alias("sum"),
            F.when(state["sum"] >= rank, state["at"]).otherwise(pair[bin_name]).alias("at"),
        )

    return F.aggregate(histogram, start, step, lambda state: state["at"])


def count_from(histogram: Column, bin_name: str, lowest: int) -> Column:
    """How much lies in bins at or above ``lowest``."""
    kept = F.filter(histogram, lambda pair: pair[bin_name] >= lowest)
    return total(kept)


def bucket(value: Column) -> Column:
    """The logarithmic bucket of a whole number; 0 for 0, mirrored below it."""
    magnitude = (1 + F.floor(F.ln(F.abs(value)) / math.log(BUCKET_WIDTH))).cast("int")
    return F.when(value == 0, F.lit(0)).otherwise(F.when(value > 0, magnitude).otherwise(-magnitude))


def bucket_middle(bucket_: Column) -> Column:
    """The value that stands for a bucket, within 1 % of all that lies in it."""
    middle = F.pow(F.lit(BUCKET_WIDTH), F.abs(bucket_) - 0.5)
    return F.when(bucket_ == 0, F.lit(0.0)).otherwise(F.when(bucket_ > 0, middle).otherwise(-middle))
