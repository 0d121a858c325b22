"""Whether a run passes: a pure decision, so that it can be tested without one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tools.suite.outcome import Outcome

FLAKY_MAX = 3
"""More flaky tests than these fail a run: then it is no longer one test that is weak."""


@dataclass(frozen=True)
class Verdict:
    """``flaky``: failed, and passed alone. ``failed``: failed twice, or was not tried again. ``broken``: reasons."""

    flaky: tuple[str, ...]
    failed: tuple[str, ...]
    broken: tuple[str, ...]

    @property
    def passes(self) -> bool:
        """Whether the run as a whole is good."""
        return not self.failed and not self.broken and len(self.flaky) <= FLAKY_MAX


def judge(outcomes: list[Outcome], passes_alone: Callable[[str, str], bool]) -> Verdict:
    """Has each failed test run again, alone, if there are few enough for the run to pass at all.

    Args:
        passes_alone: Runs one test, named by its phase and its own name, and says whether it passes.
    """
    broken = tuple(f"{outcome.name}: {outcome.broken}" for outcome in outcomes if outcome.broken)
    failed = [(outcome.name, name) for outcome in outcomes for name in outcome.failed]
    if broken or len(failed) > FLAKY_MAX:
        return Verdict((), tuple(name for _, name in failed), broken)
    again = {name: passes_alone(phase, name) for phase, name in failed}
    flaky = tuple(name for name, passed in again.items() if passed)
    return Verdict(flaky, tuple(name for name, passed in again.items() if not passed), broken)
