"""`lapwing lab run crowdsourcing` as a user runs it: real processes, few phones, every reading accounted for."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import pytest
from commands import LAPWING, Running, call, clean_environment, one_error

pytestmark = pytest.mark.timeout(300)
FIGURES = ("p50_ms", "p95_ms", "p99_ms", "p999_ms", "max_ms")


def run(*arguments: str, out: Path, timeout_s: float) -> dict[str, Any]:
    result = subprocess.run(
        [*LAPWING, "lab", "run", "crowdsourcing", *arguments, "--out", str(out), "--json"],
        capture_output=True,
        text=True,
        timeout=timeout_s,
        env=clean_environment(),
        check=False,
    )
    assert result.returncode == 0, result.stderr + result.stdout
    document: dict[str, Any] = json.loads(result.stdout)
    assert json.loads((out / "result.json").read_text()) == document
    return document


def assert_whole(row: dict[str, Any], hops: set[str], no_drops: Collection[str] = ()) -> None:
    """Nothing lost, nothing unaccounted for, every hop measured, every process watched.

    Args:
        no_drops: Roles of those that do not count drops.
    """
    readings = row["readings"]
    assert (row["ended"], readings["lost_total"], readings["unaccounted"]) == ("", 0, 0), row
    assert readings["due"] == readings["received"] > 0
    assert set(row["latency"]) == hops
    for hop in row["latency"].values():
        figures = [hop[name] for name in FIGURES]
        assert figures == sorted(figures)
    for process in row["processes"]:
        assert process["rss_mib"] > 1
        assert process["cpu_cores"] >= 0
        assert 0 <= process["cpu_idle_cores"] < 2 * (os.cpu_count() or 1)
        assert process["dropped"] == (None if process["role"] in no_drops else {}), process


def assert_drawn(out: Path) -> None:
    for name in ("latency", "loss", "stress"):
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    page = (out / "report.html").read_text()
    assert "Knees" in page
    assert "http://" not in page


@pytest.mark.nightly
def test_a1_accounts_for_every_reading_at_both_qos(tmp_path: Path) -> None:
    document = run("--architecture", "a1", "--quick", "--devices", "50", "--seconds", "2", out=tmp_path, timeout_s=280)
    rows = {row["qos"]: row for row in document["rows"]}
    assert set(rows) == {0, 1}
    for row in rows.values():
        assert_whole(row, {"device to broker", "broker to controller", "end to end"})
        assert [process["role"] for process in row["processes"]] == ["generator", "broker", "controller"]
        assert sorted(path.name for path in Path(row["logs"][0]).glob("*.log")) == [
            "broker.log",
            "controller.log",
            "generator.log",
        ]
        assert not list(Path(row["logs"][0]).parent.glob("scratch"))
    # A point whose phones were late says nothing of the broker: a busy machine may make them so.
    counted = [0 if row["thrown_away"] else 50 for row in document["rows"]]
    assert [found["devices"] for found in document["knees"]] == counted
    assert_drawn(tmp_path)


@pytest.mark.nightly
@pytest.mark.timeout(400)
def test_a3_single_loses_nothing_and_accounts_for_every_reading(tmp_path: Path) -> None:
    document = run("--architecture", "a3-single", "--quick", "--devices", "50", out=tmp_path, timeout_s=380)
    (row,) = document["rows"]
    hops = {"device to broker", "broker to bridge", "broker to Kafka", "Kafka to controller", "broker to controller"}
    assert_whole(row, hops | {"end to end"}, no_drops={"kafka", "controller"})
    assert [process["name"] for process in row["processes"]] == [
        "generator",
        "broker",
        "kafka",
        "bridge-0",
        "controller",
    ]
    assert_drawn(tmp_path)
    controllers_own = Path(row["logs"][0]).parent / "controller" / "report.html"
    assert '<section id="freshness">' in controllers_own.read_text()


def children(pid: int) -> set[int]:
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found |= {child} | children(child)
    return found


def test_ctrl_c_leaves_nothing_behind(tmp_path: Path) -> None:
    """Interrupted while phones send: every process is gone, and so is what they kept on disk."""
    words = ("lab", "run", "crowdsourcing", "--architecture", "a1", "--qos", "1", "--devices", "20", "--seconds", "60")
    with Running(*words, "--quick", "--out", str(tmp_path)) as running:
        point = tmp_path / "points" / "a1-qos1-20-seed1"
        poll(lambda: '"sending"' in text_of(point / "logs" / "generator.out"), running)
        started = children(running.process.pid)
        assert len(started) == 3
        assert running.end(signal.SIGINT) == 130
    assert not [pid for pid in started if is_alive(pid)]
    assert (point / "logs" / "broker.log").exists()
    assert not (point / "scratch").exists()


@pytest.mark.nightly
@pytest.mark.timeout(500)
def test_ctrl_c_leaves_nothing_of_kafka_and_spark_behind(tmp_path: Path) -> None:
    """Spark's JVM has a session of its own, and its workers are the JVM's: they are gone, too."""
    words = ("lab", "run", "crowdsourcing", "--architecture", "a3-single", "--devices", "20", "--seconds", "60")
    with Running(*words, "--out", str(tmp_path)) as running:
        point = tmp_path / "points" / "a3-single-qos1-20-seed1"
        poll(lambda: '"sending"' in text_of(point / "logs" / "generator.out"), running, timeout_s=400)
        started = children(running.process.pid)
        assert sum("java" in words_of(pid) for pid in started) == 2, [words_of(pid)[:80] for pid in started]
        assert running.end(signal.SIGINT) == 130
    assert not [words_of(pid)[:200] for pid in started if is_alive(pid)]
    assert not (point / "scratch").exists()


@pytest.mark.slow
def test_a_process_that_dies_ends_the_point_with_its_reason(tmp_path: Path) -> None:
    words = ("lab", "run", "crowdsourcing", "--architecture", "a1", "--qos", "1", "--devices", "20,40")
    with Running(*words, "--quick", "--seconds", "60", "--json", "--out", str(tmp_path)) as running:
        point = tmp_path / "points" / "a1-qos1-20-seed1"
        poll(lambda: '"sending"' in text_of(point / "logs" / "generator.out"), running)
        (controller,) = [pid for pid in children(running.process.pid) if "crowdsourcing.controller" in words_of(pid)]
        os.kill(controller, signal.SIGKILL)
        document = json.loads(running.line())
        assert running.end(None) == 1
    (row,) = document["rows"]  # 40 phones were not tried any more
    assert "controller ended by signal 9" in row["ended"]
    assert document["knees"][0]["devices"] == 0
    assert "signal 9" in document["knees"][0]["why"]


def test_wrong_arguments_are_refused_before_anything_starts(tmp_path: Path) -> None:
    for arguments, expected in (
        (("--architecture", "a9"), "a1 (one broker"),
        (("--architecture", "a1", "--devices", "200,100"), "--devices"),
        (("--architecture", "a1", "--devices", "many"), "whole numbers"),
        (("--architecture", "a1", "--devices", "2000000000"), "ulimit -Hn"),
        (("--architecture", "a1", "--qos", "2"), "a1 is measured with 0, 1"),
    ):
        result = call("lab", "run", "crowdsourcing", *arguments, "--out", str(tmp_path / "out"))
        assert result.returncode == 2, arguments
        assert expected in one_error(result)
    assert not (tmp_path / "out").exists()


def test_the_doctor_speaks_json() -> None:
    result = call("lab", "doctor", "--architecture", "a1", "--json")
    findings = [json.loads(line) for line in result.stdout.splitlines()]
    assert {finding["need"] for finding in findings} == {"extension", "files", "cores", "memory"}
    assert result.returncode == 0
    assert "there is a1" in one_error(call("lab", "doctor", "--architecture", "a9"))


def poll(is_done: Callable[[], bool], running: Running, timeout_s: float = 60.0) -> None:
    """Waits until something is so; fails when the command ends before, or in time."""
    deadline = time.monotonic() + timeout_s
    while not is_done():
        assert running.process.poll() is None, running.errors
        assert time.monotonic() < deadline, "not in time"
        time.sleep(0.05)


def text_of(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def words_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:
        return ""


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
