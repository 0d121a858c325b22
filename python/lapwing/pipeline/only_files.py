"""Whether only files lie in a job's folders: Spark and delta-rs open what has the right name, and wait for a pipe."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from lapwing.pipeline.errors import FolderError
from lapwing.regular_file import kind_in


def check_only_files(out: Path, checkpoint: Path | None = None) -> None:
    """Looks at ``out``, at all below its tables, and at all below ``checkpoint``; nothing is opened.

    Raises:
        FolderError: a pipe, a socket or a device lies there. What cannot be looked at is left to who opens it.
    """
    found = [*_beside(out), *_below(out / "tables"), *(_below(checkpoint) if checkpoint else ())]
    if found:
        path, kind = found[0]
        more = f" (and {len(found) - 1} more such)" if len(found) > 1 else ""
        remedy = "move it away, and bring back the file that was there"
        raise FolderError(f"{kind} lies where a file belongs{more}", where=str(path), remedy=remedy)


def _below(folder: Path) -> Iterator[tuple[Path, str]]:
    for at, _, _ in os.walk(folder):
        yield from _beside(Path(at))


def _beside(folder: Path) -> Iterator[tuple[Path, str]]:
    """What a folder has of other kinds, with what it is; a link is what it leads to."""
    try:
        with os.scandir(folder) as entries:
            strange = [entry for entry in entries if not (entry.is_file() or entry.is_dir())]
    except OSError:
        return
    for entry in sorted(strange, key=lambda entry: entry.name):
        try:
            kind = kind_in(entry.stat().st_mode)
        except OSError:
            continue  # a link that leads nowhere
        if kind:
            yield Path(entry), kind
