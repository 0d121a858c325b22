"""`make nightly`: every proof that CI has no time for, one after the other, and what came of each.

    python -m tools.suite.nightly                  # all: hours
    python -m tools.suite.nightly tests crash      # some: a night may be spread over days
    python -m tools.suite.nightly --since          # how many commits ago each was run last

What came of each proof, with date and commit, is written into docs/reliability.md, to be committed.
Exit status 0: all passed. 1: some did not; the log of each lies in out/nightly.
"""

from __future__ import annotations

import argparse
import datetime
import re
import subprocess
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reliability.md"
LOGS = ROOT / "out" / "nightly"
PROOFS = {
    "tests": "test-nightly",
    "crash": "crash",
    "cluster-crash": "cluster-crash",
    "fault-matrix": "fault-matrix",
    "faults-kafka": "faults-kafka",
    "wild": "wild",
    "raft": "raft",
    "cluster-sim": "cluster-sim",
    "openraft": "openraft",
    "32-bit": "test-32-bit",
    "one-offs": "one-offs",
    "fuzz": "fuzz",
    "wheel": "test-wheel",
    "audit": "audit",
    "lab": "lab",
    "soak": "soak",
}
"""By name, the target of the Makefile."""
HEAD = "| proof | last run | commit | minutes | result |\n|---|---|---|---|---|\n"
ROW = re.compile(r"^\| ([a-z0-9-]+) \| (\d{4}-\d\d-\d\d) \| `(\w+)` \| (\d+) \| (passed|FAILED) \|\n", re.MULTILINE)


class Run(NamedTuple):
    """What came of one proof when it was run last."""

    proof: str
    date: str
    commit: str
    minutes: str
    result: str

    @property
    def row(self) -> str:
        """As a line of the table."""
        return f"| {self.proof} | {self.date} | `{self.commit}` | {self.minutes} | {self.result} |\n"


def prove(name: str) -> tuple[bool, float]:
    """Runs one proof; whether it passed, and how many minutes it took."""
    LOGS.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    with (LOGS / f"{name}.log").open("wb") as log:
        done = subprocess.run(["make", PROOFS[name]], cwd=ROOT, stdout=log, stderr=subprocess.STDOUT, check=False)
    return done.returncode == 0, (time.monotonic() - begun) / 60


def git(*arguments: str) -> str:
    """What git says; empty where it fails."""
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()


def runs_of(page: str) -> dict[str, Run]:
    """By proof, what the page says of its last run."""
    return {found[0]: Run(*found) for found in ROW.findall(page)}


def with_run(page: str, run: Run) -> str:
    """The page with this run in its table, in place of the one of that proof before."""
    before, found, rest = page.partition(HEAD)
    if not found:
        raise ValueError(f"docs/reliability.md has no table with the head {HEAD.splitlines()[0]!r}")
    runs = runs_of(rest) | {run.proof: run}
    rows = "".join(runs[proof].row for proof in PROOFS if proof in runs)
    return f"{before}{found}{rows}{ROW.sub('', rest)}"


def since() -> str:
    """One line for CI: how many commits ago each proof was run, which failed, and which nobody ever ran."""
    runs = runs_of(PAGE.read_text())
    said = [f"{each.proof} {each.result} {commits_since(each.commit)}" for each in runs.values()]
    said += [f"{proof} never" for proof in PROOFS if proof not in runs]
    return f"`make nightly`, in commits ago: {', '.join(said)}"


def commits_since(commit: str) -> str:
    """How many commits lie behind this one; `?` where git does not know."""
    return git("rev-list", "--count", f"{commit}..HEAD") or "?"


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--since", action="store_true", help="only say how many commits ago each was run")
    parser.add_argument("proofs", nargs="*", help=f"of: {', '.join(PROOFS)}; default: all")
    given = parser.parse_args()
    if unknown := [name for name in given.proofs if name not in PROOFS]:
        parser.error(f"unknown: {', '.join(unknown)}; there are: {', '.join(PROOFS)}")
    if given.since:
        print(since())
        return 0
    names = given.proofs or list(PROOFS)
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    all_passed = True
    print(f"{'proof':<14}{'minutes':>8}  result; logs in {LOGS.relative_to(ROOT)}", flush=True)
    for name in names:
        commit = git("rev-parse", "--short", "HEAD")
        passed, minutes = prove(name)
        run = Run(name, today, commit, f"{minutes:.0f}", "passed" if passed else "FAILED")
        print(f"{name:<14}{run.minutes:>8}  {run.result}", flush=True)
        PAGE.write_text(with_run(PAGE.read_text(), run))
        all_passed &= passed
    return 0 if all_passed else 1


if __name__ == "__main__":
    raise SystemExit(main())
