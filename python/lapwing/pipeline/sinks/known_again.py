"""Whether a table is the one that it was: it is known by a commit of its log, or else by its id."""

from __future__ import annotations

from pathlib import Path

from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError

from lapwing.pipeline.sinks.commits import commit_mark
from lapwing.pipeline.sinks.doors import opened

Mark = tuple[int, int] | None
"""See `commit_mark`."""
_ANOTHER = "another one has taken its place"


class NotTheTableError(Exception):
    """Says what became of it."""


def known_again(table: DeltaTable, folder: Path, version: int, mark: Mark) -> DeltaTable:
    """``table``, as others may have gone on with it: itself, with commits to take up, or opened anew.

    Args:
        table: As it was known.
        folder: Its own.
        version: Of a commit of it.
        mark: By that it was known.

    Raises:
        NotTheTableError: It is gone, or another one has taken its place.
        DeltaError: It cannot be opened.
    """
    found = commit_mark(folder, version)
    if not (folder / "_delta_log" / f"{version:020}.json").exists():
        return _opened_anew(table, folder)
    # delta-rs looks for new commits only: of another table in its place it would take them for this one's.
    if found != mark:
        raise NotTheTableError(_ANOTHER)
    return table


def _opened_anew(table: DeltaTable, folder: Path) -> DeltaTable:
    """Who rests for longer than commits are kept finds none of his: others have gone on, beyond a checkpoint."""
    try:
        found = opened(folder)
    except TableNotFoundError:
        raise NotTheTableError("it was taken away") from None
    if found.metadata().id != table.metadata().id:
        raise NotTheTableError(_ANOTHER)
    if found.version() < table.version():
        raise NotTheTableError(f"it has version {found.version()}, and had {table.version()}")
    return found
