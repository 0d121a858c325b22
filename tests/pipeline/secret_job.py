"""Reads a stream with a secret, as a batch and as a stream, and shows and writes all that Spark has to show and write.

    python secret_job.py URL FOLDER OPTIONS

OPTIONS: a list of the source's options, as JSON, each tried in turn. FOLDER gets checkpoints, the event log, the log of
Spark and its local files; what Spark says goes to standard output. A last line tells in which of the files the secret
stood while Spark ran.
"""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from lapwing.pipeline.session import session


def main(url: str, folder: Path, ways: list[dict[str, str]]) -> None:
    (folder / "events").mkdir()
    conf = {
        "spark.driver.memory": "1g",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": (folder / "events").as_uri(),
        "spark.local.dir": str(folder / "local"),
    }
    spark = session(master="local[2]", conf=conf, log=folder / "spark.log")
    spark.sparkContext.setLogLevel("INFO")
    for number, options in enumerate(ways):
        read(spark, url, folder / f"way{number}", options)
    secrets = [value.encode() for options in ways for name, value in options.items() if name != "user"]
    found = [str(file) for file in folder.rglob("*") if file.is_file() and _holds(file, secrets)]
    print(f"\nfound in: {json.dumps(found)}")
    spark.stop()


def read(spark: SparkSession, url: str, folder: Path, options: dict[str, str]) -> None:
    rows = spark.read.format("lapwing").options(url=url, **options).load()
    rows.explain(extended=True)
    print(f"read {rows.count()}", rows._jdf.queryExecution().toString())
    live = spark.readStream.format("lapwing").options(url=url, **options).load()
    live.explain(extended=True)
    sink = live.writeStream.format("parquet").option("path", str(folder / "rows"))
    query = sink.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True).start()
    query.awaitTermination()
    query.explain(extended=True)
    print(query.lastProgress, query.recentProgress, query.status)
    print(f"streamed {spark.read.parquet(str(folder / 'rows')).count()}")
    for wrong in ({"url": f"{url}x"}, {"colour": "red"}, {"max_rows_per_batch": "x"}):
        try:
            spark.read.format("lapwing").options(**{"url": url, **options, **wrong}).load().count()
        except Exception as error:
            print(repr(error), error, error.__cause__, error.__context__)


def _holds(file: Path, secrets: list[bytes]) -> bool:
    content = file.read_bytes()
    return any(secret in content or pickle.dumps(secret.decode()) in content for secret in secrets)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3]))
