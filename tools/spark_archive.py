"""`spark_archive.py FILE`: Spark's classes as the JVM maps them, so that a Spark of the tests starts in half the time.

A JVM that finds the archive of another Java or another Spark goes on without it.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from pyspark import SparkContext

from lapwing.pipeline.session import session

EXIT_S = 120
"""For the JVM to write it."""


def main(file: Path) -> None:
    """Starts Spark, lets it write, read, and aggregate a few rows, and keeps the classes that took."""
    with tempfile.TemporaryDirectory(dir=file.parent) as folder:
        made = Path(folder) / file.name
        os.environ["SPARK_SUBMIT_OPTS"] = f"-XX:ArchiveClassesAtExit={made}"
        spark = session()
        spark.range(10).write.parquet(f"{folder}/rows")
        assert spark.read.parquet(f"{folder}/rows").groupBy("id").count().count() == 10
        gateway = SparkContext._gateway
        assert gateway is not None
        spark.stop()
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(EXIT_S)
        made.replace(file)


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
