"""What the demo shows while it runs: a line for each thing that happens, and on a terminal how far it is."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from lapwing.lab.cluster_demo.summary import Summary
from lapwing.text import one_line


class Screen:
    """Lines on standard output; colours and the bar on a terminal only. Use it in a ``with`` block.

    Args:
        quiet: Show nothing.
        console: Where to; None: standard output.
    """

    def __init__(self, *, quiet: bool, console: Console | None = None) -> None:
        self._console = console or Console(quiet=quiet, highlight=False, soft_wrap=True)
        self._begun_s = time.monotonic()
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[text]}"),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
            refresh_per_second=4,
            disable=quiet or not self._console.is_terminal,
        )
        self._task = self._progress.add_task("starting", total=None, text="")

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def say(self, text: str) -> None:
        """Something has happened."""
        self._line(text)

    def bad(self, text: str) -> None:
        """Something has happened to a node."""
        self._line(text, "yellow")

    def good(self, text: str) -> None:
        """It is well again."""
        self._line(text, "green")

    def show(self, what: str, done: float | None, total: float | None, text: str) -> None:
        """How far it is."""
        self._progress.update(self._task, description=what, completed=done or 0, total=total, text=text)

    def result(self, summary: Summary) -> None:
        """The figures; the last line is the verdict."""
        self._progress.stop()
        rows = summary.rows()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows if len(rows) > 1 else []:
            self._print("  ".join(map(str.ljust, row, widths)).rstrip(), "dim" if row is rows[0] else "")
        *lines, verdict = summary.lines()
        for line in lines:
            self._print(line)
        self._print(verdict, "bold green" if summary.verdict.holds else "bold red")

    def _line(self, text: str, style: str = "") -> None:
        self._print(f"{time.monotonic() - self._begun_s:5.1f} s  {text}", style)

    def _print(self, text: str, style: str = "") -> None:
        # Not as a style of `print`: that would colour the bar, too.
        self._console.print(Text(one_line(text), style))
