"""Per device and minute: exactly what arrived, was lost, repeated, out of order."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from lapwing.contracts.tables import KEYS, QUALITY

_COUNTS = [name for name in QUALITY.names if name not in KEYS["quality"]]


def quality(classified: DataFrame) -> DataFrame:
    """Messages received, lost, repeated and late per device and minute of the broker's clock.

    Args:
        classified: Rows of `lapwing.pipeline.transforms.repeats.classify`.

    Returns:
        Rows of ``QUALITY``; ``lost`` may be negative in a minute that fills an earlier one's gap.
    """
    late = F.col("late").cast("long")
    per_row = {
        "received": F.lit(1).cast("long"),
        "gap": F.col("gap"),
        "recovered": late,
        "lost": F.col("gap") - late,
        "repeated": F.col("repeated").cast("long"),
        "reordered": late,
    }
    minute = F.date_trunc("minute", "ingress_at").alias("minute")
    sums = [F.sum(per_row[name]).alias(name) for name in _COUNTS]
    return classified.where("reason is null").groupBy("device", minute).agg(*sums)


def joined_quality(rows: DataFrame) -> DataFrame:
    """Rows of ``QUALITY``, some for the same device and minute, as one row each."""
    return rows.groupBy(*KEYS["quality"]).agg(*[F.sum(name).alias(name) for name in _COUNTS])
