"""What spark-submit has settled where it has started this process: it counts before the pipeline's own settings."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_VARIABLE = "PYSPARK_GATEWAY_PORT"


def started_by_submit() -> bool:
    """Whether spark-submit has started this process: then it has said the master, and brought the JVM and its jars."""
    return _VARIABLE in os.environ


def submitted_settings() -> dict[str, str]:
    """Spark's settings from spark-submit's command line and its files of defaults; none unless it has started us."""
    if not started_by_submit():
        return {}
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()  # Connects to the JVM, which knows them.
    found = dict(SparkConf().getAll())
    if found.get("spark.app.name") == Path(sys.argv[0]).name:
        del found["spark.app.name"]  # Nobody has said --name: then it is the script's.
    return found
