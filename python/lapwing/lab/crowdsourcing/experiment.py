"""The experiment: every architecture with more and more phones, until something gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from lapwing.lab.crowdsourcing.knee import Knee, gives, knee
from lapwing.lab.crowdsourcing.plan import Plan, Setting
from lapwing.lab.crowdsourcing.point import run_point
from lapwing.lab.crowdsourcing.row import Row, together

MISSES_MAX = 2
"""The generator missed its schedule at so many numbers of phones in a row: with more it will, too."""


class Watcher(Protocol):
    """Who is told how far it is."""

    def begin(self, setting: Setting) -> None:
        """A point begins."""

    def step(self, what: str, done: int, total: int | None) -> None:
        """What is being done in it."""

    def end(self, row: Row) -> None:
        """A number of phones is over, with all its seeds."""

    def line_ends(self, label: str, found: Knee) -> None:
        """A line is over."""


@dataclass(frozen=True)
class Result:
    """Everything that was measured, in the order of the plan."""

    plan: Plan
    rows: tuple[Row, ...]

    def lines(self) -> dict[str, list[Row]]:
        """Rows by their line."""
        lines: dict[str, list[Row]] = {}
        for row in self.rows:
            lines.setdefault(row.line, []).append(row)
        return lines

    def knees(self) -> dict[str, Knee]:
        """The knee of every line."""
        return {label: knee([row.measured() for row in rows]) for label, rows in self.lines().items()}

    def to_json(self) -> dict[str, Any]:
        """What ``--json`` prints, and ``result.json`` holds."""
        return {
            "plan": self.plan.to_json(),
            "rows": [row.to_json() for row in self.rows],
            "knees": [{"line": label, **found.to_json()} for label, found in self.knees().items()],
        }


def run_experiment(plan: Plan, folder: Path, watcher: Watcher) -> Result:
    """Runs the plan; logs of every point stay in ``folder``.

    Raises:
        ConfigError: something that an architecture needs is not there.
    """
    rows: list[Row] = []
    for architecture, qos in plan.lines():
        line: list[Row] = []
        for devices in plan.devices:
            seeds = []
            for setting in plan.settings(architecture, qos, devices):
                watcher.begin(setting)
                seeds.append(run_point(setting, folder / setting.slug, watcher.step))
            line.append(together(seeds))
            watcher.end(line[-1])
            if is_over(line):
                break
        rows += line
        watcher.line_ends(architecture.label(qos), knee([row.measured() for row in line]))
    return Result(plan, tuple(rows))


def is_over(line: Sequence[Row]) -> bool:
    """Whether more phones would tell nothing new: something has given, or the generator can not keep up."""
    points = [row.measured() for row in line]
    counting = [point for point in points if not point.thrown_away]
    last = points[-1]
    if last.thrown_away:
        return len(points) >= MISSES_MAX and all(point.thrown_away for point in points[-MISSES_MAX:])
    return bool(gives(last, counting[0]))
