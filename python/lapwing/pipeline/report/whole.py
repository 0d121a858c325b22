"""Pictures and pages are there whole or not at all: a disk that fills up leaves what was drawn before."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lapwing.pipeline.report.tables import ReportError


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Gives a path to write to; it takes the place of ``path`` when all is written."""
    part = path.with_name(f".{path.name}.part")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def drawing(out: Path) -> Iterator[None]:
    """What the system refuses meanwhile is one error that says what to do.

    Raises:
        ReportError: a file cannot be written: no space, no right, a name too long.
    """
    try:
        yield
    except OSError as problem:
        raise ReportError(
            f"the pictures cannot be drawn: {problem.strerror or problem}",
            where=str(problem.filename or out),
            remedy="the tables are whole; make room there and in the folder for temporary files, and run it again",
        ) from None
