"""Is there one Kafka for all workers of a test run, and none after it, also when a worker is killed?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
TIMEOUT_S = 30
SUITE = """
import json, os, signal, time
from pathlib import Path

SEEN = Path(__file__).parent

def tell(name, kafka):
    topic = kafka.new_topic("same")
    (SEEN / f"{name}.new").write_text(json.dumps({"worker": os.getpid(), "server": kafka.pid, "topic": topic}))
    (SEEN / f"{name}.new").rename(SEEN / f"{name}.json")

def until_both():
    deadline = time.monotonic() + 300
    while len(list(SEEN.glob("*.json"))) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)

def test_one(kafka):
    tell("one", kafka)
    if not os.environ["ALONE"]:
        until_both()
        os.kill(os.getpid(), signal.SIGKILL)

def test_two(kafka):
    tell("two", kafka)
    until_both()
    # The other worker is gone, or about to be, and the server stays.
    kafka.new_topic("still-there")
"""


def run(folder: Path, workers: int) -> list[dict[str, int]]:
    """A test run of two tests; gives what each has seen."""
    (folder / "test_suite.py").write_text(SUITE)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "kafka_server", "-n", str(workers), "--basetemp", "base", "."],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(TESTS), "ALONE": "" if workers else "yes"},
        capture_output=True,
        text=True,
        check=False,
    )
    outcome = "1 failed, 1 passed" if workers else "2 passed"
    assert outcome in done.stdout, done.stdout + done.stderr
    return [json.loads((folder / f"{name}.json").read_text()) for name in ("one", "two")]


@pytest.mark.nightly
@pytest.mark.parametrize("workers", [0, 2])
def test_one_server_for_a_run(tmp_path: Path, workers: int) -> None:
    """Of two workers one is killed while both use the server."""
    one, two = run(tmp_path, workers)
    assert one["server"] == two["server"]
    assert (one["worker"] == two["worker"]) == (workers == 0)
    assert one["topic"] != two["topic"]
    deadline = time.monotonic() + TIMEOUT_S
    while Path(f"/proc/{one['server']}").exists():
        assert time.monotonic() < deadline, "the server outlives the run"
        time.sleep(0.05)
