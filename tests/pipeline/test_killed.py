"""Is every reading in the tables exactly once after SIGKILL at any point? Real processes, real kills."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import test_deadlines_job as deadlines
from served_stream import ServedStream
from test_coverage_job import POINTS, check, rows, send

SCRIPT = Path(__file__).with_name("killed_job.py")
RANDOM_KILLS = 10


def job(stream: ServedStream, out: Path, point: str, seconds: float = 0.0, name: str = "coverage") -> int:
    command = [sys.executable, str(SCRIPT), stream.url, str(out), point, str(seconds), name]
    ended = subprocess.run(command, timeout=240, capture_output=True, text=True, check=False)
    assert ended.returncode in (0, -signal.SIGKILL), ended.stderr
    return ended.returncode


FIRST = pytest.param(POINTS[:1], marks=pytest.mark.slow, id="first")
EACH = pytest.param(POINTS, marks=pytest.mark.nightly, id="each")
"""After the first of the commits, while others are under way, for CI; after each of them for `make nightly`.

In one process `test_coverage_job.py` and `test_deadlines_job.py` have each of them, in every run.
"""


@pytest.mark.parametrize("points", [FIRST, EACH])
@pytest.mark.timeout(900)
def test_killed_after_a_table_s_commit(stream: ServedStream, tmp_path: Path, points: list[str]) -> None:
    sent = 0
    for number, point in enumerate(points):
        send(stream, sent, 15)
        sent += 15
        assert job(stream, tmp_path, point) == -signal.SIGKILL
        if number % 2:
            shutil.rmtree(tmp_path / "checkpoint")
    assert job(stream, tmp_path, "never") == 0
    check(tmp_path, sent)


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_deadlines_killed_after_a_table_s_commit(stream: ServedStream, tmp_path: Path) -> None:
    sent = 0
    for number, point in enumerate(deadlines.POINTS):
        deadlines.send(stream, sent, 15)
        sent += 15
        assert job(stream, tmp_path, point, name="deadlines") == -signal.SIGKILL
        if number % 2:
            shutil.rmtree(tmp_path / "checkpoint")
    assert job(stream, tmp_path, "never", name="deadlines") == 0
    deadlines.check(tmp_path, sent)


@pytest.mark.nightly
@pytest.mark.timeout(1_500)
def test_killed_at_random_points(stream: ServedStream, tmp_path: Path) -> None:
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    sent = 0
    for _ in range(RANDOM_KILLS):
        send(stream, sent, 70)
        sent += 70
        assert job(stream, tmp_path, "random", chance.uniform(0.5, 6)) == -signal.SIGKILL
    assert job(stream, tmp_path, "never") == 0
    check(tmp_path, sent)
    assert len(rows(tmp_path, "readings")) == 2 * (sent - 1)
