"""`lapwing lab run surveillance` as a user runs it: every alarm from a sensor through an analyser to the guard."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from commands import LAPWING, clean_environment, lapwing, one_error


@pytest.mark.timeout(180)
def test_quick_hears_every_alarm_and_draws_the_picture(tmp_path: Path) -> None:
    """Both strategies, the same day: LEF loses and repeats nothing, and alarms come no later than by turns."""
    result = subprocess.run(
        [*LAPWING, "lab", "run", "surveillance", "--quick", "--json", "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=150,
        env=clean_environment(),
        check=False,
    )
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    lef, by_turns = document["rows"]
    assert (lef["policy"], by_turns["policy"]) == ("lef", "round-robin")
    assert lef["messages"] == by_turns["messages"] > 50
    assert (lef["unfinished"], lef["duplicates_share"]) == (0, 0)
    assert lef["mean_ms"] < by_turns["mean_ms"]
    for row in (lef, by_turns):
        for name in ("mean_ms", "p50_ms", "p99_ms", "p999_ms", "missed_share"):
            low, high = row[f"{name}_interval"]
            assert 0 <= low <= row[name] <= high
    assert json.loads((tmp_path / "result.json").read_text()) == document
    assert (tmp_path / "surveillance.png").read_bytes().startswith(b"\x89PNG")


def test_a_strategy_that_does_not_exist_is_refused() -> None:
    result = lapwing("lab", "run", "surveillance", "--policies", "", "--quick")
    assert result.returncode == 2
    assert "at least one policy" in one_error(result)
