"""Per minute and route (a pair of clocks): the distribution of the time between."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from lapwing.contracts.clocks import ROUTES
from lapwing.contracts.tables import LATENCY
from lapwing.pipeline.transforms.histogram import bucket, bucket_middle, gathered, percentile

_PERCENTILES = {"p50_us": 500, "p95_us": 950, "p99_us": 990, "p999_us": 999}


def latency_bins(classified: DataFrame) -> DataFrame:
    """First copies of readings, counted per minute, route and bucket: ``count``, ``min_us``, ``max_us``."""
    routes = [
        F.struct(F.lit(route.name).alias("route"), _us_between(route.start.column, route.end.column).alias("us"))
        for route in ROUTES
    ]
    timed = (
        classified.where("first")
        .select(F.date_trunc("minute", "ingress_at").alias("minute"), F.explode(F.array(*routes)).alias("timed"))
        .select("minute", "timed.*")
        .where("us is not null")
    )
    sums = [F.count("*").alias("count"), F.min("us").alias("min_us"), F.max("us").alias("max_us")]
    return timed.groupBy("minute", "route", bucket(F.col("us")).alias("bucket")).agg(*sums)


def bins_of_latency(table: DataFrame) -> DataFrame:
    """Rows of ``LATENCY`` taken apart again into the bins of `latency_bins`."""
    return table.select("minute", "route", "min_us", "max_us", F.explode("histogram").alias("bin")).select(
        "minute", "route", "bin.bucket", "bin.count", "min_us", "max_us"
    )


def latency(bins: DataFrame) -> DataFrame:
    """Bins, some for the same minute, route and bucket, as rows of ``LATENCY``."""
    sums = [F.sum("count").alias("count"), F.min("min_us").alias("min_us"), F.max("max_us").alias("max_us")]
    once = bins.groupBy("minute", "route", "bucket").agg(*sums)
    rows = once.groupBy("minute", "route").agg(
        gathered("bucket", F.col("bucket"), F.col("count")).alias("histogram"), *sums
    )
    for name, per_mille in _PERCENTILES.items():
        rows = rows.withColumn(name, _within(bucket_middle(percentile(F.col("histogram"), "bucket", per_mille))))
    return rows.select(LATENCY.names)


def _us_between(start: str, end: str) -> Column:
    return F.unix_micros(end) - F.unix_micros(start)


def _within(estimate: Column) -> Column:
    return F.least(F.greatest(estimate, F.col("min_us").cast("double")), F.col("max_us").cast("double"))
