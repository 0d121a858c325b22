"""The job `coverage` as users start it on a cluster: with spark-submit, or with `lapwing pipeline run --master`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from spark_cluster import HOME

from lapwing.cli import spark_submit
from lapwing.pipeline.source.spark_jars import DELTA, KAFKA, find_jars

SPARK = {
    "spark.driver.memory": "1g",
    "spark.executor.memory": "700m",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    # What comes back to the driver has to be less than the readings: see the tests.
    "spark.driver.maxResultSize": "1m",
}

ENVIRONMENT = os.environ | {"SPARK_HOME": str(HOME), "PYSPARK_PYTHON": sys.executable}


def submit_command(master: str, source: str, out: Path, *more: str, conf: dict[str, str] | None = None) -> list[str]:
    """With spark-submit; `more` are arguments of the job."""
    script = spark_submit.__file__
    given = [f"--conf={key}={value}" for key, value in (SPARK if conf is None else conf).items()]
    return [str(HOME / "bin" / "spark-submit"), "--master", master, *given, script, *_job(source, out), *more]


def run_command(master: str, source: str, out: Path, *more: str) -> list[str]:
    """With `lapwing pipeline run`."""
    given = [f"--conf={key}={value}" for key, value in SPARK.items()]
    lapwing = [sys.executable, "-m", "lapwing.cli"]
    return [*lapwing, "pipeline", "run", *_job(source, out), "--master", master, *given, *more]


def jars() -> dict[str, str]:
    """What spark-submit is told of jars."""
    folder = find_jars((KAFKA, DELTA))
    assert folder, "make spark-jars"
    return {"spark.jars": ",".join(str(jar) for jar in sorted(folder.glob("*.jar")))}


@contextmanager
def started(command: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """In a process group of its own, which ends with the block; the log gets what it says."""
    with log.open("ab") as file:
        job = subprocess.Popen(command, stdout=file, stderr=file, env=ENVIRONMENT, start_new_session=True)
    try:
        yield job
    finally:
        if job.poll() is None:
            os.killpg(job.pid, signal.SIGKILL)
            job.wait()


def python_of(out: Path) -> int:
    """The process id of the job that has `out`."""
    return int((out / ".lapwing-job").read_text())


def alive(process: int) -> bool:
    """Whether it runs; one that only waits to be reaped does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def kill(job: subprocess.Popen[bytes], out: Path, victim: str) -> None:
    """SIGKILL to `python`, or to the `jvm`: that is what spark-submit itself becomes."""
    os.kill(job.pid if victim == "jvm" else python_of(out), signal.SIGKILL)


def _job(source: str, out: Path) -> list[str]:
    return ["coverage", "--source", source, "--out", str(out), "--trigger", "available-now"]
