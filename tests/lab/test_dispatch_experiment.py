"""`lapwing lab run dispatch` as a user runs it: real processes, short days, every figure with its interval."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from commands import LAPWING, call, clean_environment, lapwing, one_error

pytestmark = pytest.mark.timeout(300)
FIGURES = ("mean_ms", "p50_ms", "p99_ms", "p999_ms", "missed_share", "duplicates_share")
SHORT = ("--seconds", "5", "--seeds", "1", "--drain", "1")
needs_mosquitto = pytest.mark.skipif(
    not shutil.which("mosquitto", path=f"{os.environ['PATH']}:/usr/sbin"), reason="Mosquitto is not installed"
)


def run(*arguments: str) -> dict[str, Any]:
    result = subprocess.run(
        [*LAPWING, "lab", "run", "dispatch", *arguments, "--json"],
        capture_output=True,
        text=True,
        timeout=280,
        env=clean_environment(),
        check=False,
    )
    assert result.returncode == 0, result.stderr
    document: dict[str, Any] = json.loads(result.stdout)
    return document


def assert_well_formed(row: dict[str, Any]) -> None:
    assert row["messages"] > 0
    for name in FIGURES:
        low, high = row[f"{name}_interval"]
        assert 0 <= low <= row[name] <= high
    assert row["p50_ms"] <= row["p99_ms"] <= row["p999_ms"]


@pytest.mark.nightly
@needs_mosquitto
@pytest.mark.parametrize("link", ["auto", "proxy"])
def test_another_broker_runs_the_same_day(link: str, tmp_path: Path) -> None:
    """Members connect, work and acknowledge through links that hold back; nothing is lost; pictures are drawn."""
    arguments = ("--policies", "", "--peer", "mosquitto", "--loads", "0.3", "--scenario", "equal", "--link", link)
    document = run(*arguments, *SHORT, "--drain", "10", "--out", str(tmp_path))
    (row,) = document["rows"]
    assert_well_formed(row)
    assert (row["policy"], row["scenario"], row["load"]) == ("mosquitto", "equal", 0.3)
    assert row["unfinished"] == 0
    assert row["duplicates_share"] == 0
    assert row["mean_ms"] >= 10  # 12.5 ms of work on average, and the way
    assert json.loads((tmp_path / "result.json").read_text()) == document
    assert (tmp_path / "latency-equal-30.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.nightly
def test_quick_is_well_formed_and_lef_beats_round_robin() -> None:
    """One broker, both policies set while it runs, the same day."""
    document = run("--quick")
    rows = {row["policy"]: row for row in document["rows"]}
    assert set(rows) == {"lef", "round-robin"}
    for row in rows.values():
        assert_well_formed(row)
        assert all(sum(run["per_member"]) > 0 for run in row["runs"])
    # By how much is the bench's to say: this is one short day, and others share the machine.
    assert rows["lef"]["mean_ms"] < rows["round-robin"]["mean_ms"]
    assert rows["lef"]["missed_share"] < rows["round-robin"]["missed_share"]
    (ratio,) = document["ratios"]
    assert (ratio["of"], ratio["over"]) == ("lef", "round-robin")
    assert ratio["mean_ms"] == pytest.approx(rows["lef"]["mean_ms"] / rows["round-robin"]["mean_ms"], rel=1e-3)


def test_a_policy_that_the_broker_does_not_know_is_refused_with_those_it_knows() -> None:
    result = call("lab", "run", "dispatch", "--policies", "fastest", *SHORT)
    assert result.returncode == 2
    assert "fastest" in result.stderr
    assert "round-robin" in result.stderr


def test_wrong_arguments_are_refused_before_anything_starts() -> None:
    for arguments, expected in (
        (("--scenario", "sunny"), "blackholes"),
        (("--loads", "0.5,much"), "--loads"),
        (("--loads", "7"), "7 is no load"),
        (("--loads", ""), "there is no load"),
        (("--loads", "0.7,0.7"), "named twice: 0.7"),
        (("--scenario", "hetero", "--scenario", "hetero"), "named twice: hetero"),
        (("--peer", "nobody"), "NAME=COMMAND"),
        (("--declare", "maybe"), "processed"),
        (("--policies", "lef,lef"), "named twice: lef"),
        (("--policies", ""), "at least one policy"),
        (("--link", "string"), "tun"),
    ):
        result = call("lab", "run", "dispatch", *arguments)
        assert result.returncode == 2, arguments
        assert expected in one_error(result)


def test_a_broker_that_does_not_start_says_why() -> None:
    result = lapwing("lab", "run", "dispatch", "--policies", "", "--peer", "x=sh -c 'echo out of luck; exit 3'", *SHORT)
    assert result.returncode == 1
    assert "out of luck" in result.stderr
