"""Runs a job on a data folder: its events as they come, a bar on a terminal, errors of the one tree."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from lapwing.errors import from_core

Event = dict[str, Any]
Tell = Callable[[str], object]
Result = TypeVar("Result")


def run_job(job: Callable[[Tell], Result], on_event: Callable[[Event], object], *, bar: str = "") -> Result:
    """Runs ``job`` and gives ``on_event`` each event; something true from there breaks it off.

    Args:
        job: One of ``lapwing._core``'s, waiting for whom to tell.
        on_event: Called in this thread.
        bar: What the bar on a terminal says; nothing: no bar.

    Raises:
        LapwingError: what kept the job from its end.
    """
    from lapwing._core import CoreError

    with _Bar(bar) as progress:

        def tell(text: str) -> object:
            event: Event = json.loads(text)
            progress.note(event)
            return on_event(event)

        try:
            return job(tell)
        except CoreError as error:
            raise from_core(error) from error


class _Bar:
    """How many bytes of the files were read; nothing unless on a terminal."""

    def __init__(self, text: str) -> None:
        # Imported for a terminal only: it takes longer than most of these jobs.
        self._progress: Any = None
        if not text or not sys.stderr.isatty():
            return
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
        self._progress = Progress(*columns, console=Console(stderr=True), transient=True, refresh_per_second=4)
        self._task = self._progress.add_task(text, total=None)

    def note(self, event: Event) -> None:
        if self._progress is None:
            return
        if event["event"] == "begin":
            self._progress.reset(self._task, total=event["bytes"])
        elif event["event"] in ("file", "copied"):
            self._progress.update(self._task, advance=event["bytes"])

    def __enter__(self) -> _Bar:
        if self._progress is not None:
            self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()
