"""What the experiment shows while it runs, and its tables."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from lapwing.lab.crowdsourcing.experiment import Result
from lapwing.lab.crowdsourcing.knee import Knee
from lapwing.lab.crowdsourcing.plan import Plan, Setting
from lapwing.lab.crowdsourcing.row import Row
from lapwing.pipeline.report.units import share
from lapwing.text import one_line

_WIDTH_WITHOUT_TERMINAL = 120


class Screen:
    """Progress bars on a terminal, a line per number of phones elsewhere. Use it in a ``with`` block.

    Args:
        quiet: Show nothing: the result is printed as JSON.
    """

    def __init__(self, plan: Plan, *, quiet: bool) -> None:
        self.console = Console(stderr=True, quiet=quiet)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=32),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=self.console,
            disable=not self.console.is_terminal,
        )
        self._all = self._progress.add_task("points", total=plan.points_max)
        self._one = self._progress.add_task("", total=None)
        self._begun = 0

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def begin(self, setting: Setting) -> None:
        """A point begins."""
        self._begun += 1
        self._progress.update(self._all, completed=self._begun - 1, description=_subject(setting))

    def step(self, what: str, done: int, total: int | None) -> None:
        """What is being done in it."""
        self._progress.update(self._one, description=what, completed=done, total=total)

    def end(self, row: Row) -> None:
        """A number of phones is over."""
        self._progress.update(self._all, completed=self._begun)
        self.console.print(
            f"{row.line}, {row.devices:,} phones: {escape(one_line(told(row)))}", highlight=False, soft_wrap=True
        )

    def line_ends(self, label: str, found: Knee) -> None:
        """A line is over."""
        self.console.print(f"[bold]{label}[/]: {escape(one_line(knee_told(found)))}", highlight=False, soft_wrap=True)


def _subject(setting: Setting) -> str:
    return f"{setting.label}, {setting.devices:,} phones"


def told(row: Row) -> str:
    """A row in a line."""
    if row.ended:
        return f"ended: {row.ended}"
    lost = f"{row.balance.missing:,} of {row.balance.due:,} lost"
    text = f"p99 {row.p99_ms:,.1f} ms, {lost}"
    if row.balance.unaccounted:
        text += f", {row.balance.unaccounted:,} unaccounted for"
    return f"{text}; thrown away: {row.thrown_away}" if row.thrown_away else text


def knee_told(found: Knee) -> str:
    """A knee in a line."""
    if found.breaks_at is None:
        return f"up to {found.devices:,} phones; {found.why}"
    return f"knee at {found.devices:,} phones; at {found.breaks_at:,}: {found.why}"


def print_tables(result: Result) -> None:
    """The rows of every line, and the knees."""
    console = Console()
    if not console.is_terminal:
        console.width = _WIDTH_WITHOUT_TERMINAL
    for label, rows in result.lines().items():
        console.print(_rows_table(label, rows))
    table = Table("line", "holds up to", "breaks at", "why", title="Knees", title_justify="left", box=SIMPLE)
    for label, found in result.knees().items():
        breaks = f"{found.breaks_at:,}" if found.breaks_at is not None else "-"
        table.add_row(label, f"{found.devices:,}", breaks, escape(one_line(found.why)))
    console.print(table)


def _rows_table(label: str, rows: list[Row]) -> Table:
    table = Table(title=label, title_justify="left", box=SIMPLE)
    for head in ("phones", "p50 ms", "p99 ms", "lost", "repeated", "broker cores", "idle", "MiB", "queue", "counts"):
        table.add_column(head, justify="left" if head == "counts" else "right", no_wrap=head != "counts")
    for row in rows:
        table.add_row(*cells(row))
    return table


def cells(row: Row) -> tuple[str, ...]:
    """A row's figures as text, in the order of the table's columns."""
    if row.ended:
        return (f"{row.devices:,}", *("-" * 8), f"ended: {row.ended}")
    whole, broker = row.latency.get("end to end"), row.of("broker")
    times = (f"{whole.p50_ms:,.1f}", f"{whole.p99_ms:,.1f}") if whole else ("-", "-")
    lost = share(row.balance.missing / max(1, row.balance.due))
    stress = ("-",) * 4
    if broker is not None:
        memory, queue = f"{broker.rss_bytes / 2**20:,.0f}", f"{broker.queue:,}"
        stress = (f"{broker.cpu:.2f}", f"{broker.cpu_idle:.3f}", memory, queue)
    repeated = f"{row.answer.get('repeated', 0):,}"
    return (f"{row.devices:,}", *times, lost, repeated, *stress, row.thrown_away or "yes")
