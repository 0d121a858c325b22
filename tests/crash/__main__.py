"""`python -m tests.crash --rounds 200 --seed 1`: see the package's docstring."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import tests.crash as package

from .one_round import one_round
from .power import compile_library
from .round import Outcome

_SEEDS_APART = 1_000_003


def seeds(seed: int, rounds: int) -> list[int]:
    """One seed for each round; the first is the one given, so that a round can be repeated alone."""
    return [seed + number * _SEEDS_APART for number in range(rounds)]


def _rounds(options: argparse.Namespace, out: Path, library: Path | None) -> Iterator[Outcome]:
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        waiting = [
            pool.submit(one_round, seed, out, library, groups=options.groups)
            for seed in seeds(options.seed, options.rounds)
        ]
        for future in waiting:
            yield future.result()


def _print_round(number: int, outcome: Outcome) -> None:
    lost = f"  {outcome.lost_changes:5,} changes lost" if outcome.lost_changes else ""
    print(
        f"round {number:3}  seed {outcome.seed:<11} {outcome.shards} shards  {outcome.crashes} crashes"
        f"  {outcome.sent:5,} sent  {outcome.acknowledged:5,} acknowledged  {outcome.delivered:6,} delivered{lost}"
        f"  {outcome.seconds:5.1f} s  {'FAILED' if outcome.findings else 'ok'}",
        flush=True,
    )
    for finding in outcome.findings:
        print(f"    {finding}")
    if outcome.folder:
        print(f"    its data: {outcome.folder}; again: python -m tests.crash --rounds 1 --seed {outcome.seed}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.crash", description=package.__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1, help="of the first round; each has one of its own")
    parser.add_argument("--jobs", type=int, default=2, help="rounds at the same time")
    parser.add_argument("--power-cut", action="store_true", help="most crashes lose what was not synced")
    parser.add_argument("--groups", action=argparse.BooleanOptionalAction, default=True, help="with a durable group")
    parser.add_argument("--out", type=Path, help="where the data of failed rounds stays; default: a temporary folder")
    parser.add_argument("--json", action="store_true", help="one object a round, and the sum, as JSON lines")
    return parser.parse_args()


def main() -> int:
    """Command line; 1 when anything was not as promised."""
    options = _arguments()
    began = time.monotonic()
    out = options.out or Path(tempfile.mkdtemp(prefix="lapwing-crash-"))
    out = out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    library = compile_library(out) if options.power_cut else None
    outcomes = []
    for number, outcome in enumerate(_rounds(options, out, library), 1):
        outcomes.append(outcome)
        if options.json:
            print(json.dumps(outcome.to_json()), flush=True)
        else:
            _print_round(number, outcome)
    failed = [outcome.seed for outcome in outcomes if outcome.findings]
    total = {
        "rounds": len(outcomes),
        "crashes": sum(outcome.crashes for outcome in outcomes),
        "sent": sum(outcome.sent for outcome in outcomes),
        "acknowledged": sum(outcome.acknowledged for outcome in outcomes),
        "delivered": sum(outcome.delivered for outcome in outcomes),
        "lost_changes": sum(outcome.lost_changes for outcome in outcomes),
        "seconds": round(time.monotonic() - began, 1),
        "failed": failed,
    }
    if options.json:
        print(json.dumps({"sum": total}))
    else:
        figures = ", ".join(f"{value:,} {name.replace('_', ' ')}" for name, value in total.items() if name != "failed")
        print(f"{figures}; failed: {failed or 'none'}")
    if not failed:
        shutil.rmtree(out, ignore_errors=options.out is not None)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
