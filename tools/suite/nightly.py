"""`make nightly`: every proof that CI has no time for, one after the other, and what came of each.

    python -m tools.suite.nightly                  # all: hours
    python -m tools.suite.nightly tests crash      # some
    python -m tools.suite.nightly --since          # how many commits ago the last whole night was

A whole night writes its date, commit and result into docs/reliability.md, to be committed with it.
Exit status 0: all passed. 1: some did not; the log of each lies in out/nightly.
"""

from __future__ import annotations

import argparse
import datetime
import re
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reliability.md"
LOGS = ROOT / "out" / "nightly"
PROOFS = {
    "tests": "test-nightly",
    "crash": "crash",
    "fault-matrix": "fault-matrix",
    "faults-kafka": "faults-kafka",
    "fuzz": "fuzz",
    "wheel": "test-wheel",
    "audit": "audit",
    "lab": "lab",
    "soak": "soak",
}
"""By name, the target of the Makefile."""
HEAD = "| night | commit | result |\n|---|---|---|\n"
ROW = re.compile(r"^\| (\d{4}-\d\d-\d\d) \| `(\w+)` \| (.*) \|$", re.MULTILINE)


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


def with_row(page: str, date: str, commit: str, result: str) -> str:
    """The page, with this night as the first row of its table."""
    head, found, rest = page.partition(HEAD)
    if not found:
        raise ValueError(f"docs/reliability.md has no table with the head {HEAD.splitlines()[0]!r}")
    return f"{head}{found}| {date} | `{commit}` | {result} |\n{rest}"


def since() -> str:
    """One line on the last whole night, for CI."""
    found = ROW.search(PAGE.read_text())
    if not found:
        return "the last `make nightly`: none is written down in docs/reliability.md"
    date, commit, result = found.groups()
    count = git("rev-list", "--count", f"{commit}..HEAD")
    return f"the last `make nightly`: {count or 'an unknown number of'} commits ago ({date}, {commit}): {result}"


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--since", action="store_true", help="only say how many commits ago the last night was")
    parser.add_argument("proofs", nargs="*", help=f"of: {', '.join(PROOFS)}; default: all")
    given = parser.parse_args()
    if unknown := [name for name in given.proofs if name not in PROOFS]:
        parser.error(f"unknown: {', '.join(unknown)}; there are: {', '.join(PROOFS)}")
    if given.since:
        print(since())
        return 0
    failed: list[str] = []
    names = given.proofs or list(PROOFS)
    print(f"{'proof':<14}{'minutes':>8}  result; logs in {LOGS.relative_to(ROOT)}", flush=True)
    for name in names:
        passed, minutes = prove(name)
        failed += [] if passed else [name]
        print(f"{name:<14}{minutes:>8.0f}  {'passed' if passed else 'FAILED'}", flush=True)
    if not given.proofs:
        result = f"failed: {', '.join(failed)}" if failed else f"all {len(names)} passed"
        today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
        PAGE.write_text(with_row(PAGE.read_text(), today, git("rev-parse", "--short", "HEAD"), result))
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
