"""`python -m tests.faults_kafka --seconds 600`: see the package's docstring."""

from __future__ import annotations

import argparse
import dataclasses
import datetime
import json
import sys
from pathlib import Path

import tests.faults_kafka as package
from rich.console import Console

from .outcome import Outcome
from .run import Run


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults_kafka", description=package.__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--faults", type=int, help="end after so many, if that is earlier; 6: each kind once")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=int, default=2000, help="readings per second, of about 350 bytes")
    parser.add_argument("--out", type=Path, default=Path("out/faults-kafka"), help="each run has a folder in it")
    options = parser.parse_args()
    folder = options.out / f"{datetime.datetime.now():%Y-%m-%dT%H-%M-%S}"
    with Console(stderr=True).status("starting") as status:
        outcome = Run(options.seed, folder, options.rate, status.update).go(options.seconds, options.faults)
    (folder / "report.json").write_text(json.dumps(dataclasses.asdict(outcome), indent=2) + "\n")
    _print(outcome, folder)
    return 1 if outcome.findings else 0


def _print(outcome: Outcome, folder: Path) -> None:
    faults = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in sorted(outcome.faults.items()))
    print(f"{outcome.seconds:.0f} s, faults: {faults}")
    print(f"acknowledged {outcome.acknowledged:,}, records {outcome.records:,}, lost {outcome.lost:,}")
    print(f"repeated: by the bridge {outcome.repeated_by_bridge:,}, by publishers {outcome.repeated_by_publishers:,}")
    for finding in outcome.findings:
        print(f"    {finding}")
    print(f"{folder}: {'FAILED' if outcome.findings else 'each acknowledged reading is in the tables once'}")


if __name__ == "__main__":
    sys.exit(main())
