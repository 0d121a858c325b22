"""What came of one phase: who failed, how long it took, and where the time went."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field


@dataclass
class Outcome:
    """One phase of a run.

    ``seconds``: by the clock. ``tests`` and ``busy_s``: how many tests, and seconds of worker time, by group (a folder
    of tests, or a Rust package). ``failed``: names that can be run again. ``broken``: why the phase as a whole says
    nothing (it did not compile, a file could not be collected); empty when it ran.
    """

    name: str
    seconds: float = 0.0
    passed: int = 0
    skipped: int = 0
    failed: list[str] = field(default_factory=list)
    broken: str = ""
    tests: Counter[str] = field(default_factory=Counter)
    busy_s: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    slowest: list[tuple[float, str]] = field(default_factory=list)
