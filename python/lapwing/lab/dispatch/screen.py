"""What the experiment shows while it runs, and its tables."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.box import SIMPLE
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from lapwing.lab.dispatch.intervals import Figure
from lapwing.lab.dispatch.outcome import Row
from lapwing.lab.dispatch.plan import Plan
from lapwing.lab.dispatch.trace import Trace


class Screen:
    """Progress bars on a terminal, a line per run elsewhere. Use it in a ``with`` block.

    Args:
        quiet: Show nothing: the result is printed as JSON.
    """

    def __init__(self, plan: Plan, *, quiet: bool) -> None:
        self.console = Console(stderr=True, quiet=quiet)
        self._plan = plan
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=32),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=self.console,
            disable=not self.console.is_terminal,
        )
        self._all = self._progress.add_task("runs", total=plan.runs)
        self._one = self._progress.add_task("messages", total=None)
        self._run = 0

    def __enter__(self) -> Self:
        plan = self._plan
        self.console.print(
            f"{plan.runs} runs of {plan.warm_s + plan.seconds:.0f} s: at most {plan.longest_s / 60:.0f} minutes",
            highlight=False,
        )
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def begin(self, subject: str, trace: Trace) -> None:
        """A run begins."""
        self._run += 1
        what = f"{subject}, {trace.scenario.name} {trace.load:.0%}"
        self._progress.update(self._one, description=what, completed=0, total=len(trace.messages))

    def done(self, messages: int) -> None:
        """So many of its messages are done."""
        self._progress.update(self._one, completed=messages)

    def end(self, row: Row) -> None:
        """It is over."""
        self._progress.advance(self._all)
        if self.console.is_terminal:
            return
        cells = ", ".join(f"{name} {_shown(name, row.figures[name].value)}" for name in ("mean_ms", "p99_ms"))
        what = f"{self._run}/{self._plan.runs} {row.policy}, {row.scenario} {row.load:.0%}"
        self.console.print(f"{what}: {cells}", highlight=False)


_WIDTH_WITHOUT_TERMINAL = 100


def print_tables(plan: Plan, rows: Sequence[Row], missed: str) -> None:
    """One table per scenario and load, and what the measurement itself was like.

    Args:
        missed: What a miss is, in a few words.
    """
    console = Console()
    if not console.is_terminal:
        console.width = _WIDTH_WITHOUT_TERMINAL
    for scenario in plan.scenarios:
        for load in plan.loads:
            own = [row for row in rows if (row.scenario, row.load) == (scenario.name, load)]
            console.print(_table(f"{scenario.name}, {load:.0%} load", own, missed))
    cut = [f"{row.policy} {row.unfinished:,} ({row.scenario} {row.load:.0%})" for row in rows if row.unfinished]
    if cut:
        console.print(f"not done when the run was cut, counted with the time until then: {', '.join(cut)}")
    console.print(_own_error(rows), highlight=False)


_HEADS = {
    "mean_ms": "mean ms",
    "p50_ms": "p50",
    "p99_ms": "p99",
    "p999_ms": "p99.9",
    "missed_share": "missed",
    "duplicates_share": "repeated",
}


def _table(title: str, rows: Sequence[Row], missed: str) -> Table:
    caption = f"missed: {missed}; repeated: came twice; dim: intervals of 95 %"
    table = Table(title=title, title_justify="left", caption=caption, caption_justify="left", box=SIMPLE)
    table.add_column("policy", no_wrap=True)
    for head in _HEADS.values():
        table.add_column(head, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(row.policy, *(_with_interval(name, row.figures[name]) for name in _HEADS))
    return table


def _with_interval(name: str, figure: Figure) -> str:
    return f"{_shown(name, figure.value)}\n[dim]{_shown(name, figure.low)}-{_shown(name, figure.high)}[/]"


def _shown(name: str, value: float) -> str:
    if name.endswith("_share"):
        return f"{value * 100:.3g}%" if value < 0.1 else f"{value * 100:.0f}%"
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def _own_error(rows: Sequence[Row]) -> str:
    """How late the experiment's own processes were, at worst, and what share of the cores it took.

    The publisher is late, too, where the broker lets it send nothing more: its figures count that in any case.
    """
    runs = [run for row in rows for run in row.conditions]
    names = {"publisher_late_us": "publisher", "link_late_us": "links", "handler_late_us": "handlers"}
    late = [
        f"{what} by {max(run[name][1] for run in runs) / 1e3:.1f} ms"
        for name, what in names.items()
        if all(name in run for run in runs)
    ]
    busy = max(sum(run["cpu_s"].values()) / run["wall_s"] for run in runs)
    return f"the experiment itself was late (p99, worst run): {', '.join(late)}; it took at most {busy:.2f} cores"
