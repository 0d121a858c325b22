"""The short form of `make faults-kafka`: each kind of fault once, and nothing acknowledged is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KINDS = {"kafka_killed", "kafka_paused", "kafka_restarted", "kafka_disk_full", "member_killed", "broker_killed"}


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_nothing_is_lost(tmp_path: Path) -> None:
    # A bound in time would leave it to the machine which there are: each is waited for until Kafka answers again.
    words = ("--faults", str(len(KINDS)), "--rate", "1000", "--seed", "7", "--out", str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults_kafka", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=880,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (report,) = tmp_path.glob("*/report.json")
    outcome = json.loads(report.read_text())
    assert outcome["acknowledged"] > 1000
    assert set(outcome["faults"]) >= KINDS
    assert (outcome["lost"], outcome["findings"]) == (0, [])
