"""Runs the job `coverage` on a cluster, or here, in a process of its own, and prints the result as JSON.

python cluster_job.py MASTER URL OUT
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from lapwing.pipeline.jobs.coverage import CoverageJob

CONF = {
    "spark.driver.memory": "1g",
    "spark.executor.memory": "700m",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    # What comes back to the driver has to be less than the readings: see the test.
    "spark.driver.maxResultSize": "1m",
}


def main(master: str, url: str, out: str) -> None:
    conf = {"spark.driver.memory": "1g"} if master.startswith("local") else CONF
    job = CoverageJob(url, out, master=master, trigger="available-now", conf=conf).start()
    job.wait()
    job.stop()
    print(json.dumps(asdict(job.result(draw=False)), default=str))


if __name__ == "__main__":
    main(*sys.argv[1:])
