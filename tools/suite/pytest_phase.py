"""One run of pytest over workers, and what came of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.suite.by_phase import JVM, WAITING
from tools.suite.outcome import Outcome

ROOT = Path(__file__).resolve().parents[2]
NOTHING_COLLECTED = 5
WHY = {2: "interrupted, or a file could not be collected", 3: "pytest itself failed", 4: "pytest was called wrongly"}
SLOWEST = 15
"""How many tests a phase names as its slowest."""


@dataclass(frozen=True)
class Phase:
    """``which``: an expression over markers."""

    name: str
    which: str
    workers: int


def phases(tier: str, jvm_workers: int, workers: int) -> list[Phase]:
    """The two phases of a tier: what needs a JVM, then what mostly waits."""
    return [
        Phase("with a JVM", f"{JVM}({tier})", jvm_workers),
        Phase("waiting", f"{WAITING}({tier})", workers),
    ]


@contextmanager
def read_ahead(phase: Phase, tests: Sequence[str]) -> Iterator[None]:
    """Meanwhile the files of a later phase are read once, so that each of its workers finds what pytest makes of their
    assertions. What cannot be read is told by that phase."""
    if phase.workers < 2:
        yield
        return
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-n", "0", "-m", phase.which, *tests]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, cwd=ROOT, env=_surroundings(), stdout=quiet, stderr=quiet) as reader:
        try:
            yield
        finally:
            reader.terminate()


def run_phase(phase: Phase, tests: Sequence[str]) -> Outcome:
    """Runs it; what pytest prints is seen as it comes. Of all tests some must belong to it, of those named none may."""
    spread = ["-n", str(phase.workers)]
    if phase.workers:
        spread += ["--dist", "loadfile", "--no-loadscope-reorder"]
    outcome = _run(phase.name, ["-q", *spread, "-m", phase.which, *tests])
    if not (tests or outcome.passed or outcome.broken):
        outcome.broken = "no test has passed"
    return outcome


def passes_alone(name: str) -> bool:
    """Runs one test in a process of its own, with nothing beside it."""
    outcome = _run("alone", ["-q", "-n", "0", name])
    return outcome.passed > 0 and not outcome.failed and not outcome.broken


def _run(name: str, arguments: list[str]) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "tests.jsonl"
        begun = time.monotonic()
        # As one word: a worker of pytest-xdist takes a word that is a file's path for the tests to run.
        command = [sys.executable, "-m", "pytest", f"--record={record}", *arguments]
        code = subprocess.run(command, cwd=ROOT, env=_surroundings(), check=False).returncode
        outcome = Outcome(name, time.monotonic() - begun)
        lines = record.read_text().splitlines() if record.exists() else []
    _count(outcome, [json.loads(line) for line in lines])
    if code not in (0, 1, NOTHING_COLLECTED):
        outcome.broken = WHY.get(code, f"pytest ended with {code}")
    elif code == 1 and not outcome.failed:
        outcome.broken = "pytest failed and named no test"
    return outcome


def _surroundings() -> dict[str, str]:
    """Without ``PYTHONDONTWRITEBYTECODE``, even where somebody has set it: what pytest makes of the assertions of a
    file is kept then. Else each of the workers makes those of all files anew, which takes it eight seconds."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def _count(outcome: Outcome, reports: list[dict[str, Any]]) -> None:
    """Each test has up to three reports: of its preparation, itself, and what it leaves."""
    seconds: dict[str, float] = {}
    worst: dict[str, str] = {}
    for report in reports:
        name, said = report["name"], report["outcome"]
        seconds[name] = seconds.get(name, 0.0) + report["seconds"]
        worst[name] = max(worst.get(name, "passed"), said, key=("passed", "skipped", "failed").index)
    for name, took_s in seconds.items():
        group = group_of(name)
        outcome.tests[group] += 1
        outcome.busy_s[group] += took_s
    outcome.passed = sum(said == "passed" for said in worst.values())
    outcome.skipped = sum(said == "skipped" for said in worst.values())
    outcome.failed = [name for name, said in worst.items() if said == "failed"]
    outcome.slowest = sorted(((took_s, name) for name, took_s in seconds.items()), reverse=True)[:SLOWEST]


def group_of(name: str) -> str:
    """The folder of a test: `tests/NAME`, or `python` for those beside the code."""
    parts = name.split("::", 1)[0].split("/")
    return "/".join(parts[:2]) if parts[0] == "tests" and len(parts) > 2 else parts[0]
