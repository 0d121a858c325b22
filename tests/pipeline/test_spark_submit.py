"""Under spark-submit on a cluster of two workers: are the tables right, whoever is killed, and do settings count?"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from kafka_stream import KafkaStream
from served_stream import ServedStream
from spark_cluster import SparkCluster
from submitted_job import ENVIRONMENT, SPARK, alive, jars, kill, python_of, run_command, started, submit_command
from test_coverage_job import check, send

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(1_500)]
DEADLINE_S = 900.0
KILLS = [("run", "readings", "python"), ("submit", "quality", "jvm"), ("submit", "coverage", "python")]
"""Who starts the job, the table after whose commit it is killed, and which process."""
ROUND = 2_000


def until(done: Callable[[], bool], log: Path) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not done():
        assert time.monotonic() < deadline, log.read_text()[-4000:]
        time.sleep(0.005)


def commits(out: Path, table: str) -> int:
    return len(list((out / "tables" / table / "_delta_log").glob("*.json")))


def test_killed_and_started_again(topic: KafkaStream, tmp_path: Path) -> None:
    """At once: what Spark's JVM still has to end when Python is gone holds the next job up, not its tables.

    A round has 1.3 MB of messages, and the driver takes 1 MB of results.
    """
    out, log = tmp_path / "out", tmp_path / "job.log"
    with SparkCluster(tmp_path) as cluster:
        submit = submit_command(cluster.url, topic.url, out, conf=SPARK | jars())
        submit[1:1] = ["--name", "nightly"]
        commands = {"submit": submit, "run": run_command(cluster.url, topic.url, out)}
        for number, (how, table, victim) in enumerate(KILLS):
            send(topic, number * ROUND, ROUND)  # type: ignore[arg-type]
            start_and_kill(commands[how], out, log, table, victim)
        with started(submit, log) as job:
            assert job.wait(DEADLINE_S) == 0, log.read_text()[-4000:]
        assert cluster.applications().count("nightly") == 3
        assert cluster.executors() >= 2 * (len(KILLS) + 1)
    check(out, len(KILLS) * ROUND)
    assert (out / "report.html").exists()


def start_and_kill(command: list[str], out: Path, log: Path, table: str, victim: str) -> None:
    """Kills it after its first commit to `table`; what is left of it ends by itself."""
    before = max(1, commits(out, table))  # the first one makes the table
    with started(command, log) as job:
        until(lambda: commits(out, table) > before or job.poll() is not None, log)
        assert job.poll() is None, log.read_text()[-4000:]
        kill(job, out, victim)
        assert job.wait(DEADLINE_S) != 0
    until(lambda: not alive(python_of(out)), log)


def test_without_the_jars_it_says_what_to_give(stream: ServedStream, tmp_path: Path) -> None:
    """One line, and the exit code: spark-submit hands both on."""
    more = ("--conf", "lapwing.sink=delta-spark")
    command = submit_command("local[1]", stream.url, tmp_path / "out", *more, conf={"spark.driver.memory": "1g"})
    ended = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, env=ENVIRONMENT, check=False)
    assert ended.returncode == 2, ended.stderr[-4000:]
    (line,) = ended.stdout.strip().splitlines()
    assert "cannot load its Delta sink" in line
    assert "spark-submit --packages io.delta:delta-spark_4.2_2.13:" in line
