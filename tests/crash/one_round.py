"""One round in a folder of its own: what a process of many does."""

from __future__ import annotations

from pathlib import Path

from .command import kept
from .outcome import Outcome
from .plan import plan
from .power import PowerCut
from .round import Round


def one_round(seed: int, out: Path, *, library: Path | None, groups: bool) -> Outcome:
    """Lives the plan of a seed; its folder stays where there is something to look at."""

    def live(folder: Path) -> tuple[Outcome, list[str]]:
        power = PowerCut(library, folder / "power", folder / "data") if library else None
        one = Round(plan(seed, power_cut=library is not None), folder, power, groups=groups)
        return one.run(), one.books.story

    return kept(out, seed, live)
