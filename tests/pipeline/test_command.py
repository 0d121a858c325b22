"""Does `lapwing pipeline run` end well: when told to, and with one line and an exit code when it cannot go on?"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from served_stream import ServedStream
from test_coverage_job import check, send

from lapwing.pipeline.jobs.coverage_tables import CoverageTables

pytestmark = pytest.mark.timeout(300)
COMMAND = [sys.executable, "-m", "lapwing.cli", "pipeline"]
SMALL = ["--conf", "spark.driver.memory=1g"]


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | environment
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=240, env=env, check=False)


def one_line(ended: subprocess.CompletedProcess[str], *named: str) -> None:
    """The failure is told in one line that names all of these, without a stack trace."""
    (line,) = ended.stderr.strip().splitlines()
    assert line.startswith("error: ")
    for each in named:
        assert each in line


def test_the_jobs_are_listed() -> None:
    assert "coverage" in run("list").stdout


@pytest.mark.slow
def test_sigterm_lets_the_batch_finish_and_the_pictures_are_drawn(stream: ServedStream, tmp_path: Path) -> None:
    send(stream, 0, 20)
    command = [*COMMAND, "run", "coverage", "--source", stream.url, "--out", str(tmp_path), "--json", *SMALL]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        first = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGTERM)
        told, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    assert first["readings"] == 38
    result = json.loads(told)
    assert {Path(path).name for path in result["pictures"]} >= {"coverage.png", "latency.png", "loss.png"}
    check(tmp_path, 20)


@pytest.mark.nightly
def test_a_spark_that_is_killed_is_told(stream: ServedStream, tmp_path: Path) -> None:
    """And does Spark give way to others as much as the command was told to?"""
    send(stream, 0, 10)
    source = ["--source", stream.url, "--out", str(tmp_path)]
    command = ["nice", "-n", "3", *COMMAND, "run", "coverage", *source, "--json", *SMALL]
    nice = os.getpriority(os.PRIO_PROCESS, 0) + 3
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            process.stdout.readline()
            (jvm,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            group = Path(f"/proc/{jvm}/autogroup")
            assert os.getpriority(os.PRIO_PROCESS, int(jvm)) == nice
            assert not group.exists() or group.read_text().split()[-1] == str(nice)
            os.kill(int(jvm), signal.SIGKILL)
            _, said = process.communicate(timeout=120)
        finally:
            process.kill()
    assert process.returncode == 1, said
    (told,) = said.splitlines()
    assert told.startswith("error: Spark has ended before the job")
    assert "run it again" in told
    assert "EOFError" in (tmp_path / "spark.log").read_text()


@pytest.mark.nightly
def test_a_python_that_starts_too_late_for_spark_does_not_end_the_job(stream: ServedStream, tmp_path: Path) -> None:
    """Spark waits ten seconds for the process that reads the stream, and ends the query then: the first time here."""
    (tmp_path / "python").write_text(
        f"""#!/bin/sh
case "$*" in *python_streaming_source_runner*) mkdir {tmp_path}/late 2>/dev/null && sleep 11;; esac
exec {sys.executable} "$@"
"""
    )
    (tmp_path / "python").chmod(0o755)
    send(stream, 0, 10)
    out = tmp_path / "out"
    source = ["--source", stream.url, "--out", str(out), "--trigger", "available-now", *SMALL]
    ended = run("run", "coverage", *source, PYSPARK_PYTHON=str(tmp_path / "python"))
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "late").exists()
    assert "readings" in ended.stdout
    assert "the query begins again, as Spark says: Python worker failed to connect back" in ended.stderr
    check(out, 10)


@pytest.mark.slow
def test_a_trimmed_stream_ends_it_with_one_line(stream: ServedStream, tmp_path: Path) -> None:
    send(stream, 0, 10)
    # As a former run has left it.
    CoverageTables(tmp_path / "tables", stream.uuid, [0, 1], served_dbm=-110).begin({0: 3, 1: 3}, {})
    stream.trim(0, stream.partitions[0].next_offset - 1)
    source = ["--source", stream.url, "--out", str(tmp_path), "--trigger", "available-now", *SMALL]
    ended = run("run", "coverage", *source)
    assert ended.returncode == 1
    one_line(ended, "messages are gone", "on_trimmed=skip", stream.url)


def test_failures_have_one_line_and_a_code(stream: ServedStream, tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    source = ["--source", stream.url, "--out", out]
    ended = run("run", "maps", *source)
    assert ended.returncode == 2
    one_line(ended, "maps", "coverage")
    ended = run("run", "coverage", *source, "--trigger", "often")
    assert ended.returncode == 2
    one_line(ended, "often", "--trigger", "available-now")
    ended = run("run", "coverage", "--source", "nowhere", "--out", out)
    assert ended.returncode == 2
    one_line(ended, "nowhere", "http://HOST:PORT/v1/streams/NAME")
    ended = run("run", "coverage", "--source", stream.url.replace("readings", "other"), "--out", out)
    assert ended.returncode == 1
    one_line(ended, "other", "readings")
    ended = run("run", "coverage", *source, JAVA_HOME=str(tmp_path))
    assert ended.returncode == 2
    one_line(ended, "no Java", f"JAVA_HOME = {tmp_path}", "install")
    ended = run("run", "coverage", *source, PYSPARK_PYTHON="/usr/bin/false")
    assert ended.returncode == 2
    one_line(ended, "Spark's Python does not run", "PYSPARK_PYTHON = /usr/bin/false", "unset it")
    assert not Path(out).exists()  # nothing has been begun
    ended = run("run", "coverage", "--source", stream.url, "--out", str(tmp_path / "a\udcff"))
    assert ended.returncode == 2
    one_line(ended, "--out has a byte 0xff in its path", "no UTF-8")
    (tmp_path / "file").touch()
    ended = run("run", "coverage", "--source", stream.url, "--out", str(tmp_path / "file"))
    assert ended.returncode == 2
    one_line(ended, "--out", str(tmp_path / "file"))
    stream.close()
    ended = run("run", "coverage", *source, "--conf", "lapwing.retry_s=0")
    assert ended.returncode == 3
    one_line(ended, "nobody answers", stream.url)
