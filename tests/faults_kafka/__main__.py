"""`python -m tests.faults_kafka --seconds 600`: see the package's docstring."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from pathlib import Path

import tests.faults_kafka as package

from .run import Run


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults_kafka", description=package.__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=int, default=2000, help="messages per second, of 200 bytes")
    parser.add_argument("--out", type=Path, default=Path("out/faults-kafka"))
    options = parser.parse_args()
    outcome = Run(options.seed, options.out, options.rate).go(options.seconds)
    print(f"{outcome.seconds:.0f} s, faults: {dict(sorted(outcome.faults.items()))}")
    print(f"acknowledged {outcome.acknowledged:,}, records {outcome.records:,}, lost {outcome.lost:,}")
    print(f"repeated: by the bridge {outcome.repeated_by_bridge:,}, by publishers {outcome.repeated_by_publishers:,}")
    (options.out / "report.json").write_text(json.dumps(dataclasses.asdict(outcome), indent=2))
    return 1 if outcome.lost else 0


if __name__ == "__main__":
    sys.exit(main())
