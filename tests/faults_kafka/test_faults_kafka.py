"""The short form of `make faults-kafka`: half a minute of faults, and nothing acknowledged is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_nothing_is_lost(tmp_path: Path) -> None:
    words = ("--seconds", "25", "--rate", "1000", "--seed", "7", "--out", str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults_kafka", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=580,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (report,) = tmp_path.glob("*/report.json")
    outcome = json.loads(report.read_text())
    assert outcome["acknowledged"] > 1000
    # How many fit into the time is a matter of the machine: each is waited for until Kafka answers again.
    assert sum(outcome["faults"].values()) >= 1
    assert (outcome["lost"], outcome["findings"]) == (0, [])
