"""How far a swarm is, as a bar on a terminal."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

_SHOW_EVERY_S = 0.1


class SwarmProgress:
    """Shows clients while they come in and messages while they go; nothing unless on a terminal.

    Args:
        profile: The settings; ``seconds`` is the length of the bar.
        quiet: Show nothing at all.
    """

    def __init__(self, profile: dict[str, Any], *, quiet: bool) -> None:
        self._seconds = float(profile["seconds"])
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[text]}"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
            refresh_per_second=4,
            disable=quiet or not sys.stderr.isatty(),
        )
        self._task = self._progress.add_task("connecting", total=None, text="")
        self._began = time.monotonic()
        self._shown = 0.0

    def arriving(self, counts: dict[str, int]) -> None:
        """Clients are coming in."""
        if self._is_time():
            text = f"{counts['ready']:,} of {counts['clients']:,} clients"
            self._progress.update(self._task, total=counts["clients"], completed=counts["ready"], text=text)

    def begin(self) -> None:
        """Messages begin."""
        self._began = time.monotonic()
        self._progress.update(self._task, description="publishing", total=self._seconds, completed=0)

    def running(self, counts: dict[str, int]) -> None:
        """Messages go and arrive."""
        if not self._is_time():
            return
        text = f"{counts['sent']:,} sent, {counts['delivered'] or counts['answered']:,} arrived"
        if counts["errors"]:
            text += f", {counts['errors']:,} errors"
        self._progress.update(self._task, completed=time.monotonic() - self._began, text=text)

    def _is_time(self) -> bool:
        """Ten times a second is enough for an eye, and costs the broker's core little."""
        now = time.monotonic()
        if now - self._shown < _SHOW_EVERY_S:
            return False
        self._shown = now
        return True

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()
