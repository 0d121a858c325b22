"""One round in a folder of its own: what a process of many does."""

from __future__ import annotations

import shutil
from pathlib import Path

from .plan import plan
from .power import PowerCut
from .round import Outcome, Round


def one_round(seed: int, out: Path, library: Path | None, *, groups: bool) -> Outcome:
    """Lives the plan of a seed; its folder stays where there is something to look at."""
    folder = out / f"seed-{seed}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    power = PowerCut(library, folder / "power", folder / "data") if library else None
    one = Round(plan(seed, power_cut=library is not None), folder, power, groups=groups)
    outcome = one.run()
    if outcome.findings:
        outcome.folder = str(folder)
        (folder / "story.txt").write_text("\n".join(one.books.story) + "\n")
    else:
        shutil.rmtree(folder)
    return outcome
