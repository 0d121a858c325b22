"""What a demo shows while it runs, and at its end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table

from lapwing.lab.demo_summary import Summary
from lapwing.lab.malformed_rows import MalformedRows
from lapwing.lab.trace_repairs import REPAIRS, Repairs
from lapwing.pipeline.report.units import count, duration
from lapwing.text import one_line

_MALFORMED_SHOWN_MAX = 10


class Screen:
    """Progress bars on a terminal, one line per phase elsewhere. Use it in a ``with`` block.

    Attributes:
        seconds: Per phase, how long it took so far.
    """

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console()
        self.seconds: dict[str, float] = {}
        self._progress = Progress(
            SpinnerColumn(finished_text="[green]✓"),
            TextColumn("{task.description}"),
            BarColumn(bar_width=32),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=self.console,
            disable=not self.console.is_terminal,
        )

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    @contextmanager
    def phase(self, name: str, title: str, total: int | None = None) -> Iterator[Bar]:
        """Times a phase under ``name`` and shows it as ``title``; ``total`` steps, if they can be counted."""
        begun = time.monotonic()
        if not self.console.is_terminal:
            self.console.print(f"{title} ...")
        bar = self.bar(title, total)
        yield bar
        bar.finish()
        self.seconds[name] = time.monotonic() - begun

    def bar(self, title: str, total: int | None = None) -> Bar:
        """A bar without a phase of its own."""
        return Bar(self._progress, self._progress.add_task(title, total=total))

    def malformed(self, rows: MalformedRows) -> None:
        """Names rows of traces that cannot be sent."""
        for row in rows.first[:_MALFORMED_SHOWN_MAX]:
            self.console.print(f"[yellow]not sent:[/] {escape(one_line(str(row)))}", soft_wrap=True, highlight=False)
        if len(rows) > _MALFORMED_SHOWN_MAX:
            left_out = f"{len(rows) - _MALFORMED_SHOWN_MAX} more, see summary.json"
            self.console.print(f"[yellow]not sent:[/] {left_out}", highlight=False)

    def repairs(self, repairs: Repairs) -> None:
        """Says by which rules rows of traces were mended."""
        for rule, found in repairs.by_rule().items():
            told = f"{rule} ({REPAIRS[rule]}): {count(found.rows)}, first {found.first}"
            self.console.print(f"[yellow]mended:[/] {escape(told)}", soft_wrap=True, highlight=False)

    def note(self, text: str) -> None:
        """A line that the reader should see."""
        self.console.print(f"[yellow]note:[/] {escape(one_line(text))}", soft_wrap=True, highlight=False)

    def result(self, summary: Summary, report: Path) -> None:
        """The figures, and where to look next."""
        self.console.print()
        self.console.print(_figures(summary))
        self.console.print(_latencies(summary))
        if not summary.whole:
            self.console.print("[bold red]not everything that was sent is in the tables, once: see summary.json[/]")
        self.console.print(f"open {report.resolve().as_uri()}", soft_wrap=True, highlight=False)


class Bar:
    """One line of progress."""

    def __init__(self, progress: Progress, task: TaskID) -> None:
        self._progress = progress
        self._task = task

    def at(self, done: int, total: int | None = None) -> None:
        """Moves it to ``done`` steps, of ``total`` where that has changed."""
        self._progress.update(self._task, completed=done, total=total)

    def finish(self) -> None:
        """Fills it."""
        task = self._progress.tasks[self._progress.task_ids.index(self._task)]
        total = task.total if task.total is not None else 1
        self._progress.update(self._task, completed=total, total=total)


def _figures(summary: Summary) -> Table:
    table = _grid("what", "count")
    for name in ("sent", "received", "lost", "repeated", "reordered", "missing"):
        value = getattr(summary, name)
        bad = name in ("lost", "repeated", "missing") and value
        table.add_row(name, f"[bold red]{count(value)}[/]" if bad else count(value))
    for name, rows in summary.rows.items():
        table.add_row(f"[dim]rows in[/] {name}", count(rows))
    return table


def _latencies(summary: Summary) -> Table:
    names = ("p50", "p95", "p99", "p99.9")
    table = _grid("latency", *names)
    for route, percentiles in summary.latency_us.items():
        table.add_row(route.replace("->", " → "), *(duration(percentiles[name]) for name in names))
    return table


def _grid(first: str, *figures: str) -> Table:
    table = Table(box=None, header_style="dim", pad_edge=False)
    table.add_column(first)
    for name in figures:
        table.add_column(name, justify="right")
    return table
