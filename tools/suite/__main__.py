"""`make test`: both phases of pytest, and the Rust rooms beside the second.

    python -m tools.suite                       # what `make test` runs
    python -m tools.suite --tier ci             # with the slow proofs
    python -m tools.suite --no-rust tests/bridge

Exit status 0: all passed, perhaps some only when run again, alone. 1: not so. 2: called wrongly.
"""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from dataclasses import replace

from tools.suite import pytest_phase, rust_phase
from tools.suite.outcome import Outcome
from tools.suite.summary import last_lines, table
from tools.suite.verdict import judge

TIERS = {"fast": "not slow and not nightly", "ci": "not nightly", "nightly": "nightly", "slow": "slow and not nightly"}
"""By name, the expression over markers that pytest gets."""
JVM_WORKERS, WORKERS = 4, 6
"""Of the phase with JVMs, and of the one that mostly waits. Each reads all files of its phase, which takes it six
seconds of a core. With the Rust rooms beside six of them both cores are busy to the end."""


def run(tier: str, jvm_workers: int, workers: int, *, rust: bool, tests: list[str]) -> list[Outcome]:
    """All phases, one after the other; the Rust rooms beside the last."""
    heavy, waiting = pytest_phase.phases(TIERS[tier], jvm_workers, workers)
    with pytest_phase.read_ahead(waiting, tests):
        outcomes = [pytest_phase.run_phase(heavy, tests)]
    with rust_phase.RustPhase() if rust else nullcontext() as beside:
        outcomes.append(pytest_phase.run_phase(waiting, tests))
        if beside:
            outcomes.append(beside.wait())
    return outcomes


def passes_alone(phase: str, name: str) -> bool:
    """Runs one failed test again."""
    print(f"\nonce more, alone: {name}", flush=True)
    return rust_phase.passes_alone(name) if phase == "Rust" else pytest_phase.passes_alone(name)


def main(arguments: list[str] | None = None) -> int:
    """Entry point; ``arguments``: in place of those of the process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tier", choices=TIERS, default="fast", help="which proofs; default: fast")
    parser.add_argument("--jvm-workers", type=int, default=JVM_WORKERS, help="workers of the phase with JVMs")
    parser.add_argument("--workers", type=int, default=WORKERS, help="workers of the phase that mostly waits")
    parser.add_argument("--no-rust", action="store_true", help="without the Rust rooms")
    parser.add_argument("tests", nargs="*", help="files or folders of tests; default: all")
    given = parser.parse_args(arguments)
    outcomes = run(given.tier, given.jvm_workers, given.workers, rust=not given.no_rust, tests=given.tests)
    verdict = judge(outcomes, passes_alone)
    if not any(outcome.tests for outcome in outcomes):
        verdict = replace(verdict, broken=(*verdict.broken, "no test has run"))
    print(table(outcomes), flush=True)
    print(f"\n{last_lines(outcomes, verdict)}", flush=True)
    return 0 if verdict.passes else 1


if __name__ == "__main__":
    raise SystemExit(main())
