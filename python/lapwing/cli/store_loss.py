"""``lapwing broker --accept-loss-of``: gives up what is damaged before the broker starts, and says what it was."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lapwing.cli.common import notice
from lapwing.cli.store_lines import Event, repair_lines
from lapwing.cli.store_run import Tell, run_job
from lapwing.errors import DataFolderError


def give_up(data: Path, segments: Sequence[str]) -> None:
    """Repairs ``data`` without the damaged records of ``segments``; each loss is a notice on standard error.

    Raises:
        ConfigError: a broker uses the folder, or there is no such segment.
        DataFolderError: something else is damaged as well, and nothing was changed.
    """
    from lapwing._core import store_repair

    def on_event(event: Event) -> None:
        for line in repair_lines(event):
            notice(line)

    def job(tell: Tell) -> bool:
        return store_repair(data, tell, segments)

    if not run_job(job, on_event, bar="reading the log"):
        raise still_damaged(data)


def still_damaged(data: Path) -> DataFolderError:
    """What is said when damage is left that nobody has given up."""
    remedy = "name the segments with --accept-loss-of, or restore the data folder from a backup; nothing was changed"
    return DataFolderError(f"{data} is damaged", remedy=remedy)
