"""`make flaky`: the suite several times, perhaps on a busy machine; who failed how often.

    python -m tools.suite.flaky --rounds 3 --busy

Exit status 0: nobody failed in any round. 1: somebody did.
"""

from __future__ import annotations

import argparse
import multiprocessing
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from tools.suite.__main__ import JVM_WORKERS, TIERS, WORKERS, run

BUSY_LOOPS = 2
"""Processes that only compute, beside the tests."""


def spin() -> None:
    """Computes nothing, for ever."""
    while True:
        pass


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """`count` processes compute while the block runs."""
    loops = [multiprocessing.Process(target=spin, daemon=True) for _ in range(count)]
    for loop in loops:
        loop.start()
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.join()


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="how often; default: 5")
    parser.add_argument("--busy", action="store_true", help=f"with {BUSY_LOOPS} busy loops beside the tests")
    parser.add_argument("--tier", choices=TIERS, default="fast", help="which proofs; default: fast")
    parser.add_argument("tests", nargs="*", help="files or folders of tests; default: all")
    given = parser.parse_args()
    failed: Counter[str] = Counter()
    for turn in range(given.rounds):
        print(f"\n==> round {turn + 1} of {given.rounds}", flush=True)
        with busy_loops(BUSY_LOOPS if given.busy else 0):
            outcomes = run(given.tier, JVM_WORKERS, WORKERS, rust=not given.tests, tests=given.tests)
        for outcome in outcomes:
            failed.update(outcome.failed)
            failed.update([f"{outcome.name}: {outcome.broken}"] if outcome.broken else [])
    print(f"\n{'failed':>6} of {given.rounds} rounds")
    for name, count in failed.most_common():
        print(f"{count:>6}  {name}")
    print("nothing failed" if not failed else "")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
