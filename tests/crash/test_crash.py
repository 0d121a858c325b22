"""A broker that is killed, or whose machine goes down, at random moments: is everything there that was acknowledged?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from .outcome import Outcome
from .plan import plan
from .power import PowerCut, compile_library
from .round import Round

pytestmark = pytest.mark.timeout(300)


def live(folder: Path, seed: int, library: Path | None = None) -> Outcome:
    """One round; fails with what was found, and the seed."""
    folder.mkdir()
    power = PowerCut(library, folder / "power", folder / "data") if library else None
    outcome = Round(plan(seed, power_cut=library is not None), folder, power).run()
    assert not outcome.findings, f"python -m tests.crash --rounds 1 --seed {seed}: {outcome.findings}"
    return outcome


def check(folder: Path, seeds: range, library: Path | None = None) -> None:
    """Rounds that between them acknowledge something, deliver something and crash."""
    outcomes = [live(folder / str(seed), seed, library) for seed in seeds]
    assert sum(outcome.crashes for outcome in outcomes) > len(outcomes)
    assert sum(outcome.acknowledged for outcome in outcomes) > 100 * len(outcomes)
    assert sum(outcome.delivered for outcome in outcomes) > 100 * len(outcomes)
    if library:
        assert sum(outcome.lost_changes for outcome in outcomes) > 0, "no power cut took anything back"


@pytest.mark.slow
def test_a_broker_that_promises_nothing_is_found_out(tmp_path: Path) -> None:
    """The rounds can see a loss: here sessions and retained messages end with the process."""
    findings: list[str] = []

    def are_seen(*kinds: str) -> bool:
        return all(any(kind in finding for finding in findings) for kind in kinds)

    # How far a round comes before the first kill depends on the machine: what one has not retained, another has.
    for seed in range(1, 6):
        careless = replace(plan(seed), durability="memory")
        (tmp_path / str(seed)).mkdir()
        findings += Round(careless, tmp_path / str(seed), groups=False, patience_s=1.0).run().findings
        if are_seen("is gone", "retained on"):
            return
    pytest.fail(f"not seen in five rounds: {findings}")


@pytest.mark.slow
def test_a_killed_broker_loses_nothing(tmp_path: Path) -> None:
    check(tmp_path, range(1, 4))


@pytest.mark.slow
def test_a_power_cut_loses_nothing(tmp_path: Path) -> None:
    check(tmp_path, range(1, 3), compile_library(tmp_path))


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_twenty_rounds_of_kills_lose_nothing(tmp_path: Path) -> None:
    check(tmp_path, range(100, 120))


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_ten_rounds_of_power_cuts_lose_nothing(tmp_path: Path) -> None:
    check(tmp_path, range(200, 210), compile_library(tmp_path))
