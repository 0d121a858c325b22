"""A bar of bytes on a terminal, for what reads files for long."""

from __future__ import annotations

import sys
from typing import Any


class BytesBar:
    """How many bytes of all were read; nothing unless on a terminal.

    Args:
        text: What the bar says; nothing: no bar.
    """

    def __init__(self, text: str) -> None:
        # Imported for a terminal only: it takes longer than most of what is shown with it.
        self._progress: Any = None
        if not text or not sys.stderr.isatty():
            return
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
        self._progress = Progress(*columns, console=Console(stderr=True), transient=True, refresh_per_second=4)
        self._task = self._progress.add_task(text, total=None)

    @property
    def is_shown(self) -> bool:
        """Whether there is a terminal to show it on."""
        return self._progress is not None

    def begin(self, total: int) -> None:
        """From here on there are so many bytes to read."""
        if self._progress is not None:
            self._progress.reset(self._task, total=total)

    def advance(self, count: int) -> None:
        """So many more were read."""
        if self._progress is not None:
            self._progress.update(self._task, advance=count)

    def show(self, done: int, total: int) -> None:
        """So many of so many were read; 0 of 0: nobody knows yet."""
        if self._progress is not None:
            self._progress.update(self._task, completed=done, total=total or None)

    def __enter__(self) -> BytesBar:
        if self._progress is not None:
            self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()
