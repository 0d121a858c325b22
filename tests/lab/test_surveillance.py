"""`lapwing lab run surveillance` as a user runs it: every alarm from a sensor through an analyser to the guard."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from commands import LAPWING, call, clean_environment, one_error

# As `--quick` has it, but for the time after the last detection: what an analyser had in hand that the machine left
# waiting for a second is given to another one.
SHORT = ("--policies", "lef,round-robin", "--seconds", "8")
TWICE_MAX = 0.1
"""Share of the alarms: that analyser raises its own as well. One is left waiting now and then, not all the time."""


@pytest.mark.nightly
@pytest.mark.timeout(300)
def test_every_alarm_is_heard_and_the_picture_is_drawn(tmp_path: Path) -> None:
    """Both strategies, the same day: LEF loses nothing and hardly repeats, and alarms come no later than by turns."""
    result = subprocess.run(
        [*LAPWING, "lab", "run", "surveillance", *SHORT, "--json", "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=280,
        env=clean_environment(),
        check=False,
    )
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    lef, by_turns = document["rows"]
    assert (lef["policy"], by_turns["policy"]) == ("lef", "round-robin")
    assert lef["messages"] == by_turns["messages"] > 50
    assert lef["unfinished"] == 0
    assert lef["duplicates_share"] <= TWICE_MAX
    assert lef["mean_ms"] < by_turns["mean_ms"]
    for row in (lef, by_turns):
        for name in ("mean_ms", "p50_ms", "p99_ms", "p999_ms", "missed_share"):
            low, high = row[f"{name}_interval"]
            assert 0 <= low <= row[name] <= high
    assert json.loads((tmp_path / "result.json").read_text()) == document
    assert (tmp_path / "surveillance.png").read_bytes().startswith(b"\x89PNG")


def test_a_day_without_an_alarm_is_refused() -> None:
    result = call("lab", "run", "surveillance", "--policies", "lef", "--load", "0.002", "--seconds", "5")
    assert result.returncode == 2
    assert "no message of site counts" in result.stderr


def test_a_strategy_that_does_not_exist_is_refused() -> None:
    result = call("lab", "run", "surveillance", "--policies", "", "--quick")
    assert result.returncode == 2
    assert "at least one policy" in one_error(result)
