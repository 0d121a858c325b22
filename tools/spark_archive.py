"""`spark_archive.py FILE`: Spark's classes as the JVM maps them, so that a Spark of the tests starts in half the time.

A JVM that finds the archive of another Java or another Spark goes on without it.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from pyspark import SparkContext

from lapwing.pipeline.jobs.coverage import run_coverage
from lapwing.pipeline.session import session

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "tests" / "pipeline")]

from messages import envelopes, reading  # noqa: E402
from served_stream import ServedStream  # noqa: E402

EXIT_S = 120
"""For the JVM to write it."""


def main(file: Path) -> None:
    """Starts Spark, lets it write, read, and aggregate a few rows, and do a job, and keeps the classes that took."""
    with tempfile.TemporaryDirectory(dir=file.parent) as folder:
        made = Path(folder) / file.name
        os.environ["SPARK_SUBMIT_OPTS"] = f"-XX:ArchiveClassesAtExit={made}"
        spark = session()
        spark.range(10).write.parquet(f"{folder}/rows")
        assert spark.read.parquet(f"{folder}/rows").groupBy("id").count().count() == 10
        stream = ServedStream()
        stream.append(0, envelopes([reading("device", serial) for serial in range(10)]))
        run_coverage(stream.url, Path(folder) / "job", draw=False)
        stream.close()
        gateway = SparkContext._gateway
        assert gateway is not None
        spark.stop()
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(EXIT_S)
        made.replace(file)


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
