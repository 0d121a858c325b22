"""Spectrum availability per (15 minutes, tile, network, channel): samples, occupancy, signal strength."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from lapwing.contracts.tables import COVERAGE
from lapwing.pipeline.transforms.histogram import count_from, gathered, percentile
from lapwing.pipeline.transforms.tiles import tile_name, tile_x, tile_y

WINDOW_S = 15 * 60
SERVED_DBM = -110
"""From this RSRP on a place counts as served, unless the job is told otherwise."""

_PERCENTILES = {"rsrp_p10_dbm": 100, "rsrp_p50_dbm": 500, "rsrp_p90_dbm": 900}
_SUMS = ("samples", "occupied_count", "occupied_sum_ppb", "rsrp_count", "rsrp_sum_dbm")


def coverage_bins(classified: DataFrame) -> DataFrame:
    """First copies of readings with a position, summed per key and RSRP value.

    ``occupied_share`` is summed in whole parts per billion: the same in whatever order rows come.
    """
    window = F.floor(F.unix_micros("measured_at") / 1_000_000 / WINDOW_S) * WINDOW_S
    placed = classified.where("first and lat is not null").select(
        F.timestamp_seconds(window).alias("window_start"),
        tile_x(F.col("lon")).alias("tile_x"),
        tile_y(F.col("lat")).alias("tile_y"),
        "network",
        "channel",
        "rsrp_dbm",
        F.round(F.col("occupied_share") * 1_000_000_000).cast("long").alias("ppb"),
        "measured_at",
    )
    sums = [
        F.count("*").alias("samples"),
        F.count("ppb").alias("occupied_count"),
        F.coalesce(F.sum("ppb"), F.lit(0)).alias("occupied_sum_ppb"),
        F.count("rsrp_dbm").alias("rsrp_count"),
        F.coalesce(F.sum(F.col("rsrp_dbm").cast("long")), F.lit(0)).alias("rsrp_sum_dbm"),
        F.max("measured_at").alias("last_seen"),
    ]
    return placed.groupBy("window_start", "tile_x", "tile_y", "network", "channel", "rsrp_dbm").agg(*sums)


def bins_of_coverage(table: DataFrame) -> DataFrame:
    """Rows of ``COVERAGE`` taken apart again into the bins of `coverage_bins`.

    A row gives one bin without RSRP, which has its sums, and one per bar of its histogram, which has that bar's.
    """
    keys = ["window_start", "tile_x", "tile_y", "network", "channel"]
    zero = F.lit(0).cast("long")
    unheard = table.select(
        *keys,
        F.lit(None).cast("int").alias("rsrp_dbm"),
        "samples",
        "occupied_count",
        "occupied_sum_ppb",
        zero.alias("rsrp_count"),
        zero.alias("rsrp_sum_dbm"),
        "last_seen",
    )
    bars = table.select(*keys, "last_seen", F.explode("rsrp_histogram").alias("bar")).select(
        *keys,
        F.col("bar.dbm").alias("rsrp_dbm"),
        zero.alias("samples"),
        zero.alias("occupied_count"),
        zero.alias("occupied_sum_ppb"),
        F.col("bar.count").alias("rsrp_count"),
        (F.col("bar.dbm") * F.col("bar.count")).alias("rsrp_sum_dbm"),
        "last_seen",
    )
    return unheard.unionByName(bars)


def coverage(bins: DataFrame, *, served_dbm: int = SERVED_DBM) -> DataFrame:
    """Bins, some for the same key and RSRP value, as rows of ``COVERAGE``."""
    keys = ["window_start", "tile_x", "tile_y", "network", "channel"]
    sums = [F.sum(name).alias(name) for name in _SUMS] + [F.max("last_seen").alias("last_seen")]
    once = bins.groupBy(*keys, "rsrp_dbm").agg(*sums)
    histogram = gathered("dbm", F.col("rsrp_dbm"), F.col("rsrp_count"))
    rows = once.groupBy(*keys).agg(histogram.alias("rsrp_histogram"), *sums)
    served = count_from(F.col("rsrp_histogram"), "dbm", served_dbm)
    known = F.nullif(F.col("rsrp_count"), F.lit(0))
    rows = (
        rows.withColumn("tile", tile_name(F.col("tile_x"), F.col("tile_y")))
        .withColumn(
            "occupied_share_mean", F.col("occupied_sum_ppb") / F.nullif(F.col("occupied_count"), F.lit(0)) / 1e9
        )
        .withColumn("rsrp_mean_dbm", F.col("rsrp_sum_dbm") / known)
        .withColumn("served_share", served / known)
        .withColumn("served_dbm", F.lit(served_dbm))
    )
    for name, per_mille in _PERCENTILES.items():
        rows = rows.withColumn(name, percentile(F.col("rsrp_histogram"), "dbm", per_mille))
    return rows.select(COVERAGE.names)
