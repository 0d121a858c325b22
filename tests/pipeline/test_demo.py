"""``lapwing demo`` as a user runs it: a whole run, bad input, Ctrl-C."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

VERIFY = Path(__file__).resolve().parents[2] / "tools" / "verify_demo.py"

needs_java = pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java")


def demo(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lapwing", "demo", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | environment)


@needs_java
@pytest.mark.nightly
@pytest.mark.timeout(300)
def test_through_kafka_everything_is_in_the_tables_once(tmp_path: Path) -> None:
    """Also where a former demo's tables lay. What a demo must leave `tools/verify_demo.py` knows, for CI too."""
    out = tmp_path / "out"
    out.mkdir()
    (out / ".lapwing-demo").touch()
    (out / "tables" / "old").mkdir(parents=True)
    done = demo("--kafka", "--devices", 20, "--seconds", 3, "--seed", 9, "--out", out)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == f"open {(out / 'report.html').as_uri()}"
    assert not (out / "tables" / "old").exists()
    verified = subprocess.run([sys.executable, str(VERIFY), str(out)], capture_output=True, text=True, check=False)
    assert verified.returncode == 0, verified.stderr
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert (summary["arguments"]["kafka"], summary["seed"]) == (True, 9)
    assert 0 < summary["latency_us"]["ingress->appended"]["p50"] < 60e6, "the bridge's clock was not told"


def test_without_kafkas_jars_a_line_says_how_to_get_them(tmp_path: Path) -> None:
    nowhere = {"LAPWING_KAFKA_JARS": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    script = (
        "import lapwing.lab.kafka.jars as j, sys; j._folders = lambda: iter(()); sys.argv[1:] = ['demo', '--kafka',"
    )
    script += f" '--out', {str(tmp_path / 'out')!r}]; from lapwing.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | nowhere)
    assert done.returncode == 2
    assert "jars of the Kafka server" in done.stderr
    assert "make kafka-jars" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_not_a_demos_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").touch()
    done = demo("--out", tmp_path)
    assert done.returncode == 2
    assert "no demo made it" in done.stderr
    assert "give another --out" in done.stderr


def test_without_java_a_line_says_what_to_install(tmp_path: Path) -> None:
    done = demo("--out", tmp_path / "out", PATH="", JAVA_HOME="")
    assert done.returncode == 2
    assert "no Java found" in done.stderr
    assert "openjdk" in done.stderr
    assert not (tmp_path / "out").exists()


@needs_java
def test_traces_and_a_python_that_are_not_there_are_named(tmp_path: Path) -> None:
    done = demo("--replay", tmp_path / "none.zip", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert f"error: no such file or folder ({tmp_path / 'none.zip'})" in done.stderr
    assert not (tmp_path / "out").exists()
    done = demo("--out", tmp_path / "out", PYSPARK_PYTHON="/bin/true")
    assert done.returncode == 2
    assert "error: Spark's Python does not run" in done.stderr
    assert not (tmp_path / "out").exists()


@needs_java
@pytest.mark.timeout(300)
@pytest.mark.parametrize("moment", [pytest.param("starting Spark", marks=pytest.mark.slow), "sending readings"])
def test_ctrl_c_removes_what_was_written_and_leaves_no_process(tmp_path: Path, moment: str) -> None:
    out, scratch = tmp_path / "out", tmp_path / "scratch"
    scratch.mkdir()
    command = [sys.executable, "-u", "-m", "lapwing", "demo", "--seconds", "60", "--out", str(out)]
    environment = os.environ | {"TMPDIR": str(scratch)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True
    ) as running:
        assert running.stdout is not None
        assert any(line.startswith(moment) for line in running.stdout)
        # As a terminal does it: to the whole group of processes.
        os.killpg(running.pid, signal.SIGINT)
        running.stdout.read()
    assert running.returncode == 130
    assert not out.exists()
    assert [path.name for path in scratch.iterdir() if path.name.startswith("lapwing-")] == []
    # The end of its output, read above, means that no child of it holds the pipe any more.
