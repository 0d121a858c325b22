"""Where the shell's words go: messages and results to standard output, the rest beside them."""

from __future__ import annotations

from collections.abc import Callable

from lapwing.client import Message
from lapwing.errors import LapwingError
from lapwing.shell.lines import message_line, message_notes, message_row
from lapwing.text import json_text, one_line

_CYAN, _DIM, _RED = "36", "2", "31;1"


class Screen:
    """Whole lines, from any thread.

    Args:
        write: Prints text to standard output, in one piece.
        write_error: Prints text to standard error; on a terminal it may be the same as ``write``.
        chatty: Say what was done and what is worth knowing about a message; a script wants neither.
        colours: The terminal shows them.
        as_json: Messages as one JSON object a line.
    """

    def __init__(
        self,
        write: Callable[[str], None],
        write_error: Callable[[str], None],
        *,
        chatty: bool = False,
        colours: bool = False,
        as_json: bool = False,
    ) -> None:
        self._write = write
        self._write_error = write_error
        self._chatty = chatty
        self._colours = colours
        self._as_json = as_json

    def message(self, client_id: str, message: Message) -> None:
        """A message has come."""
        if self._as_json:
            self._write(json_text(message_row(client_id, message)) + "\n")
            return
        line = message_line(client_id, message)
        notes = message_notes(message) if self._chatty else ""
        if self._colours:
            name = one_line(client_id)
            line = self._paint(_CYAN, name) + line.removeprefix(name)
        self._write(line + (self._paint(_DIM, f"  ({notes})") if notes else "") + "\n")

    def result(self, text: str) -> None:
        """What a verb was asked to show."""
        self._write(f"{text}\n")

    def done(self, text: str) -> None:
        """What was done, for somebody who looks on."""
        if self._chatty:
            self._write(self._paint(_DIM, one_line(text)) + "\n")

    def error(self, error: LapwingError) -> None:
        """What went wrong."""
        for line in error.lines():
            self._write_error(f"{self._paint(_RED, 'error:')} {one_line(line)}\n")

    def _paint(self, colour: str, text: str) -> str:
        return f"\x1b[{colour}m{text}\x1b[0m" if self._colours else text
