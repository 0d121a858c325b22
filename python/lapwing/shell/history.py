"""Lines typed before, in a file: one a line, the newest last, readable by its owner only."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from prompt_toolkit.history import History

from lapwing.errors import LapwingError
from lapwing.regular_file import file_only
from lapwing.shell.words import split

_LINES_MAX = 1_000
_USER_IN_URL = re.compile(r"://\S*@|(?:^|\s)-(?:u|-url)[\s=]*\S*@")
"""No broker takes one there, but the line was typed."""


def history_file() -> Path:
    """``$XDG_STATE_HOME/lapwing/shell-history``, by default under ``~/.local/state``."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "lapwing" / "shell-history"


class LineHistory(History):
    """At most a thousand lines; lines with a password are remembered in this process only."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file

    def prepare(self) -> None:
        """Makes the file, and drops the oldest lines when there are too many.

        Raises:
            LapwingError: it cannot be read or written, or is none, such as a pipe.
        """
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            self._file.touch(mode=0o600)
            lines = self._lines()
            if len(lines) > _LINES_MAX:
                self._write(lines[-_LINES_MAX:], "w")
        except OSError as error:
            what = f"no history: {error.strerror}"
            raise LapwingError(what, where=str(self._file), remedy="make it a file that you may write") from error

    def load_history_strings(self) -> Iterable[str]:
        """The newest first, as the base wants them."""
        try:
            return reversed(self._lines())
        except OSError:
            return []  # `prepare` has said so

    def store_string(self, string: str) -> None:
        """Adds a line."""
        line = " ".join(string.splitlines())
        if not has_password(line):
            try:
                self._write([line], "a")
            except OSError:
                return  # `prepare` has said so, or the disk has filled up: typing goes on

    def _lines(self) -> list[str]:
        with open(self._file, encoding="utf-8", errors="replace", opener=file_only) as file:
            return file.read().splitlines()

    def _write(self, lines: Iterable[str], mode: str) -> None:
        with open(self._file, mode, encoding="utf-8", opener=file_only) as file:
            file.writelines(f"{line}\n" for line in lines)


def has_password(line: str) -> bool:
    """Whether a line may hold a password, even one that is no command."""
    try:
        words = split(line)
    except LapwingError:
        words = line.split()
    if _USER_IN_URL.search(line):
        return True
    # Near misses too: a mistyped option is an error, but its line is remembered like any other.
    names = (word.partition("=")[0] for word in words if word.startswith("-"))
    return any(get_close_matches(name, ["--password"], cutoff=0.7) for name in names if name != "--password-file")
