"""Runs a job in a process of its own, and kills it where it is told to: SIGKILL, no farewell.

    python killed_job.py URL OUT POINT [SECONDS [JOB]]

POINT: a table's name, right after its commit; `batch`, before Spark's own commit; `never`; or `random`: after SECONDS.
"""

from __future__ import annotations

import os
import signal
import sys
import threading

from lapwing.pipeline.jobs.coverage import CoverageJob
from lapwing.pipeline.jobs.deadlines import DeadlinesJob


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def main(url: str, out: str, point: str, seconds: str = "0", name: str = "coverage") -> None:
    def committed(name: str) -> None:
        if name == point:
            die()

    conf = {"spark.driver.memory": "1g", "lapwing.max_rows_per_batch": "40"}
    kind = {"coverage": CoverageJob, "deadlines": DeadlinesJob}[name]
    job = kind(url, out, trigger="available-now", conf=conf, committed=committed).start()
    if point == "random":
        threading.Timer(float(seconds), die).start()
    job.wait()
    job.stop()
    if point == "random":
        die()


if __name__ == "__main__":
    main(*sys.argv[1:])
