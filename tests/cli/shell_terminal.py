"""A program in a terminal of its own: a pseudo-terminal, and the screen that a person would see on it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from commands import LAPWING, clean_environment

ROWS, COLUMNS = 40, 100
TIMEOUT_S = 30.0
_TOKEN = re.compile(r"\x1b\[([?>]?[\d;]*)([A-Za-z])|\x1b\][^\x07]*\x07|\x1b[=>]|(\x1b[^\[]?)|(.)", re.DOTALL)
_WITHOUT_EFFECT = frozenset("mhlq")
"""Colours and modes: they do not change which characters stand where."""


class Screen:
    """What stands where, from what a program wrote; a sequence it does not know fails the test."""

    def __init__(self) -> None:
        self.lines = [[" "] * COLUMNS for _ in range(ROWS)]
        self.row = self.column = 0
        self.asked_position = False
        self._rest = ""

    def feed(self, text: str) -> None:
        """Shows what was written; the beginning of a sequence waits for its end."""
        text = self._rest + text
        self._rest = ""
        if match := re.search(r"\x1b(\[[\d;?>]*)?$", text):
            text, self._rest = text[: match.start()], match[0]
        for token in _TOKEN.finditer(text):
            parameters, final, unknown, character = token.groups()
            assert not unknown, f"unknown escape {unknown!r}"
            if final:
                self._control(parameters, final)
            elif character:
                self._character(character)

    def text(self) -> list[str]:
        """The lines, without spaces at their ends."""
        return ["".join(line).rstrip() for line in self.lines]

    def cursor_line(self) -> str:
        """The line the cursor is in."""
        return self.text()[self.row]

    def _control(self, parameters: str, final: str) -> None:
        numbers = [int(number or 0) for number in parameters.lstrip("?>").split(";")]
        count = max(1, numbers[0])
        if final in _WITHOUT_EFFECT:
            return
        if final in "ABCD":
            self.row = min(ROWS - 1, max(0, self.row + {"A": -count, "B": count}.get(final, 0)))
            self.column = min(COLUMNS - 1, max(0, self.column + {"C": count, "D": -count}.get(final, 0)))
        elif final in "JK":
            self._erase(final, numbers[0])
        elif final == "n":
            self.asked_position = True
        elif final == "H":
            self.row, self.column = max(1, numbers[0]) - 1, max(1, [*numbers, 1][1]) - 1
        else:
            raise AssertionError(f"unknown sequence {parameters}{final}")

    def _erase(self, final: str, what: int) -> None:
        if final == "J" and what == 2:
            self.lines = [[" "] * COLUMNS for _ in range(ROWS)]
            return
        assert what == 0
        self.lines[self.row][self.column :] = [" "] * (COLUMNS - self.column)
        if final == "J":
            for row in range(self.row + 1, ROWS):
                self.lines[row] = [" "] * COLUMNS

    def _character(self, character: str) -> None:
        if character == "\r":
            self.column = 0
        elif character == "\n":
            self._line_feed()
        elif character == "\b":
            self.column = max(0, self.column - 1)
        elif character != "\a":
            if self.column == COLUMNS:
                self.column = 0
                self._line_feed()
            self.lines[self.row][self.column] = character
            self.column += 1

    def _line_feed(self) -> None:
        if self.row < ROWS - 1:
            self.row += 1
        else:
            self.lines = [*self.lines[1:], [" "] * COLUMNS]


class Terminal:
    """`lapwing ...` at a terminal. Keys are sent as a keyboard sends them; waiting has a deadline, no sleeps."""

    def __init__(self, *arguments: str, state: Path) -> None:
        self.screen = Screen()
        self.code: int | None = None
        environment = clean_environment(TERM="xterm", XDG_STATE_HOME=str(state), LINES=str(ROWS), NO_COLOR="1")
        del environment["COLUMNS"]
        self._process, self._keyboard = pty.fork()
        if self._process == 0:
            os.execvpe(LAPWING[0], [*LAPWING, *arguments], environment)
        fcntl.ioctl(self._keyboard, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))

    def keys(self, text: str) -> None:
        """Types."""
        os.write(self._keyboard, text.encode())

    def line(self, text: str) -> None:
        """Types a line."""
        self.keys(f"{text}\r")

    def until(self, *wanted: str) -> None:
        """Until each of ``wanted`` is a whole line of the screen."""
        self._until(lambda: set(wanted) <= set(self.screen.text()), f"lines {wanted}")

    def until_part(self, wanted: str) -> None:
        """Until ``wanted`` stands somewhere on the screen."""
        self._until(lambda: wanted in "\n".join(self.screen.text()), wanted)

    def until_typed(self, line: str) -> None:
        """Until the line with the cursor is ``line``, prompt included."""
        self._until(lambda: self.screen.cursor_line() == line.rstrip(), f"cursor in {line!r}")

    def end(self) -> int:
        """Until the program has ended; its exit code."""
        self._until(lambda: self.code is not None, "the end")
        assert self.code is not None
        return self.code

    def kill(self) -> None:
        """Ends the program whatever it does."""
        if self.code is None:
            os.kill(self._process, signal.SIGKILL)
            self._reap(0)
        os.close(self._keyboard)

    def _until(self, done: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        while not done():
            assert time.monotonic() < deadline, f"not in time: {what}\n" + "\n".join(self.screen.text())
            self._read()

    def _read(self) -> None:
        ready, _, _ = select.select([self._keyboard], [], [], 0.1)
        try:
            data = os.read(self._keyboard, 65_536) if ready else b""
        except OSError:  # Linux says so when the last writer has gone
            self._reap(0)
            return
        self.screen.feed(data.decode(errors="replace"))
        if self.screen.asked_position:
            self.screen.asked_position = False
            self.keys(f"\x1b[{self.screen.row + 1};{self.screen.column + 1}R")

    def _reap(self, options: int) -> None:
        process, status = os.waitpid(self._process, options)
        if process:
            self.code = os.waitstatus_to_exitcode(status)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
