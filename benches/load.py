"""The swarm as a load of its own process, on the cores it is given; its report as a dictionary."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable
from typing import Any

SECONDS_SPARE = 120.0
Report = dict[str, Any]


def swarm(
    pattern: str, url: str, cpus: set[int], *, seconds: float, flags: Iterable[str] = (), **options: object
) -> Report:
    """Runs `lapwing swarm PATTERN --url URL --seconds S [--NAME VALUE]... [FLAG]... --json` and returns its report.

    Raises:
        RuntimeError: it failed; its last words are in the message.
    """
    command = [
        sys.executable,
        "-m",
        "lapwing",
        "swarm",
        pattern,
        "--url",
        url,
        "--seconds",
        str(seconds),
        "--json",
    ]
    command += flags
    for name, value in options.items():
        command += [f"--{name.replace('_', '-')}", str(value)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=seconds + SECONDS_SPARE,
        preexec_fn=lambda: os.sched_setaffinity(0, cpus),
    )
    # Exit status 1 says that messages were lost or late: the report says how many, and the table shows it.
    if not done.stdout.strip().startswith("{"):
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return dict(json.loads(done.stdout))


def median(reports: Iterable[Report], figure: Callable[[Report], float]) -> float:
    """Median of one figure over the rounds."""
    return statistics.median(figure(report) for report in reports)


def alternate(subjects: dict[str, Callable[[], Report]], rounds: int) -> dict[str, list[Report]]:
    """Runs every subject once per round, in turn, so that a drift of the machine meets all of them."""
    reports: dict[str, list[Report]] = {name: [] for name in subjects}
    for _ in range(rounds):
        for name, run in subjects.items():
            reports[name].append(run())
    return reports
