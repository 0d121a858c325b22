"""Maintenance goes on beside jobs and other maintenance; a migration goes on beside nobody."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lapwing.pipeline.errors import FolderError, TableError

MAINTENANCE, MIGRATION = "lapwing pipeline maintain", "lapwing pipeline migrate"
"""What they are called by who meets them."""
_LOCK = ".lapwing-maintenance"


@contextmanager
def at_work(out: Path, work: str) -> Iterator[None]:
    """Keeps a migration of ``out`` away, and if this is one all maintenance, too.

    Raises:
        FolderError: ``out`` cannot be written.
        TableError: Somebody is at work there who must not be disturbed.
    """
    try:
        file = (out / _LOCK).open("a")
    except OSError as error:
        remedy = "run it as who may write there"
        raise FolderError(f"--out cannot be written: {error.strerror}", where=str(out), remedy=remedy) from None
    with file:
        try:
            fcntl.flock(file, (fcntl.LOCK_EX if work == MIGRATION else fcntl.LOCK_SH) | fcntl.LOCK_NB)
        except BlockingIOError:
            other = f"{MIGRATION} or {MAINTENANCE}" if work == MIGRATION else MIGRATION
            remedy = "begin when that has ended"
            raise TableError(f"{other} is at work here", where=str(out), remedy=remedy) from None
        yield
