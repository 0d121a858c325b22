"""What the commands of crash rounds have in common: their options, rounds beside each other, a line for each, a sum."""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from .outcome import Outcome

_SEEDS_APART = 1_000_003


class Command:
    """`python -m NAME`.

    Args:
        name: Of its package.
        about: What it does.
        rounds: So many, where nobody says how many.
        jobs: At the same time, likewise.
    """

    def __init__(self, name: str, about: str | None, *, rounds: int, jobs: int) -> None:
        self._name = name
        self.parser = argparse.ArgumentParser(prog=f"python -m {name}", description=about)
        self.parser.add_argument("--rounds", type=int, default=rounds)
        self.parser.add_argument("--seed", type=int, default=1, help="of the first round; each has one of its own")
        self.parser.add_argument("--jobs", type=int, default=jobs, help="rounds at the same time")
        self.parser.add_argument(
            "--out", type=Path, help="where the data of failed rounds stays; default: a temporary folder"
        )
        self.parser.add_argument("--json", action="store_true", help="one object a round, and the sum, as JSON lines")

    def run(self, options: argparse.Namespace, one_round: Callable[[int, Path], Outcome]) -> int:
        """All rounds, each in a process of its own; 1 when anything was not as promised.

        Args:
            one_round: Lives the plan of a seed in a folder below the one that it is given; can be sent to a process.
        """
        began = time.monotonic()
        out = folder_of(options)
        outcomes = []
        for number, outcome in enumerate(_rounds(options, out, one_round), 1):
            outcomes.append(outcome)
            if options.json:
                print(json.dumps(outcome.to_json()), flush=True)
            else:
                self._print_round(number, outcome)
        failed = [outcome.seed for outcome in outcomes if outcome.findings]
        _print_sum(outcomes, failed, time.monotonic() - began, as_json=options.json)
        if not failed:
            shutil.rmtree(out, ignore_errors=options.out is not None)
        return 1 if failed else 0

    def _print_round(self, number: int, outcome: Outcome) -> None:
        lost = f"  {outcome.lost_changes:5,} changes lost" if outcome.lost_changes else ""
        print(
            f"round {number:3}  seed {outcome.seed:<11} {outcome.shards} shards  {outcome.crashes} crashes"
            f"  {outcome.sent:5,} sent  {outcome.acknowledged:5,} acknowledged  {outcome.delivered:6,} delivered{lost}"
            f"  {outcome.seconds:5.1f} s  {'FAILED' if outcome.findings else 'ok'}"
            + (f"  {'; '.join(outcome.faults)}" if outcome.faults else ""),
            flush=True,
        )
        for finding in outcome.findings:
            print(f"    {finding}")
        if outcome.folder:
            print(f"    its data: {outcome.folder}; again: python -m {self._name} --rounds 1 --seed {outcome.seed}")


def folder_of(options: argparse.Namespace) -> Path:
    """Where the data of rounds lies; it is there when this returns."""
    if options.out is None:
        options.out = Path(tempfile.mkdtemp(prefix="lapwing-crash-"))
    options.out = Path(options.out).resolve()
    options.out.mkdir(parents=True, exist_ok=True)
    return Path(options.out)


def seeds(seed: int, rounds: int) -> list[int]:
    """One seed for each round; the first is the one given, so that a round can be repeated alone."""
    return [seed + number * _SEEDS_APART for number in range(rounds)]


def kept(out: Path, seed: int, live: Callable[[Path], tuple[Outcome, list[str]]]) -> Outcome:
    """One round in a folder of its own, which stays where there is something to look at.

    Args:
        live: Lives it in that folder; gives what came of it, and what happened.
    """
    folder = out / f"seed-{seed}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    outcome, story = live(folder)
    if outcome.findings:
        outcome.folder = str(folder)
        (folder / "story.txt").write_text("\n".join(story) + "\n")
    else:
        shutil.rmtree(folder)
    return outcome


def _rounds(options: argparse.Namespace, out: Path, one_round: Callable[[int, Path], Outcome]) -> Iterator[Outcome]:
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        waiting = [pool.submit(one_round, seed, out) for seed in seeds(options.seed, options.rounds)]
        for future in waiting:
            yield future.result()


def _print_sum(outcomes: list[Outcome], failed: list[int], seconds: float, *, as_json: bool) -> None:
    total = {
        "rounds": len(outcomes),
        "crashes": sum(outcome.crashes for outcome in outcomes),
        "sent": sum(outcome.sent for outcome in outcomes),
        "acknowledged": sum(outcome.acknowledged for outcome in outcomes),
        "delivered": sum(outcome.delivered for outcome in outcomes),
        "lost_changes": sum(outcome.lost_changes for outcome in outcomes),
        "seconds": round(seconds, 1),
        "failed": failed,
    }
    if as_json:
        print(json.dumps({"sum": total}))
    else:
        figures = ", ".join(f"{value:,} {name.replace('_', ' ')}" for name, value in total.items() if name != "failed")
        print(f"{figures}; failed: {failed or 'none'}")
