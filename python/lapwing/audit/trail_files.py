"""The files of a trail, opened at one moment, though a broker may be turning them over."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from lapwing.regular_file import open_file

_NUMBER_MAX = 999
"""Of the oldest file: ``audit.files`` is 1,000 at most. What has a larger one, such as a date, is not the trail's."""
_TRIES = 20


@dataclass(frozen=True, slots=True)
class Opened:
    """One file of a trail.

    Attributes:
        number: N of ``FILE.N``; 0: the one that is written.
        path: Where it lay when it was opened.
        file: Its bytes.
    """

    number: int
    path: Path
    file: BinaryIO


@contextmanager
def open_trail(file: Path) -> Iterator[list[Opened]]:
    """Opens all files of the trail that is written to ``file``, the oldest first; none where there is none.

    They are those of one moment: read one by one, files that a broker gives the next number meanwhile would be met
    twice, or not at all. A number may be missing, for a rotation that was cut off leaves one out.

    Raises:
        OSError: one cannot be opened, or is none, such as a pipe; or they are turned over all the time.
    """
    for _ in range(_TRIES):
        with ExitStack() as stack:
            try:
                trail = [Opened(number, path, stack.enter_context(open_file(path))) for number, path in _found(file)]
            except FileNotFoundError:
                continue
            if _are_still_there(trail, file):
                yield trail
                return
    raise OSError(errno.EAGAIN, "its files are moved faster than they can be opened", str(file))


def _found(file: Path) -> list[tuple[int, Path]]:
    """Numbers and paths, the oldest first. The folder is listed: behind a file that is missing there may be others."""
    try:
        names = os.listdir(file.parent) if file.name else []
    except (FileNotFoundError, NotADirectoryError):
        return []
    numbers = (_number(name, file.name) for name in names)
    ordered = sorted((number for number in numbers if number is not None), reverse=True)
    paths = ((number, file.with_name(f"{file.name}.{number}") if number else file) for number in ordered)
    return [(number, path) for number, path in paths if path.exists()]  # a link may lead nowhere


def _number(name: str, of: str) -> int | None:
    """N of ``FILE.N``, 0 for ``FILE`` itself, None: it is not of the trail."""
    if name == of:
        return 0
    digits = name.removeprefix(f"{of}.")
    is_number = digits != name and digits.isascii() and digits.isdigit() and not digits.startswith("0")
    return int(digits) if is_number and len(digits) <= len(str(_NUMBER_MAX)) else None


def _are_still_there(trail: list[Opened], file: Path) -> bool:
    """Whether each path leads to the file that was opened, and no other has come.

    A file moves to higher numbers only, and what is open keeps its inode: so all of them lay there at once.
    """
    if [(opened.number, opened.path) for opened in trail] != _found(file):
        return False
    try:
        return all(os.path.samestat(os.stat(one.path), os.fstat(one.file.fileno())) for one in trail)
    except FileNotFoundError:
        return False
