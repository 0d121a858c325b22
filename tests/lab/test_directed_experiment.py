"""`lapwing lab run commands` on real processes: as many readings, nothing done twice, and a page that shows it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from commands import LAPWING, clean_environment

PHONES, SECONDS, RATE_HZ = 30, 20.0, 0.5


@pytest.mark.nightly
@pytest.mark.timeout(400)
def test_with_and_without_commands_the_phones_send_as_many_readings(tmp_path: Path) -> None:
    plan = ["--devices", str(PHONES), "--seconds", str(SECONDS), "--rate", str(RATE_HZ), "--fresh", "10"]
    # As a command: Spark stays in a process that has started it, and this one has other tests to run.
    command = [*LAPWING, "lab", "run", "commands", "--out", str(tmp_path), *plan, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=390, env=clean_environment(), check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["readings_with"] == result["readings_without"] == PHONES * SECONDS * RATE_HZ
    assert result["executed_twice"] == 0
    assert 0 < result["executed"] <= result["commands"]
    assert 0 < result["share_without"] <= 1
    assert 0 < result["share_with"] <= 1
    assert json.loads((tmp_path / "result.json").read_text())["executed"] == result["executed"]
    assert (tmp_path / "freshness.png").read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '<section id="freshness">' in page
    assert "without commands" in page
    assert "http://" not in page
