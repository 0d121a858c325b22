"""Prints the lines of a broker's log, in the format that is wanted; and those of Python's own logging with them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from lapwing.config.log import SUBJECTS
from lapwing.log.journal import Journal, is_standard_error
from lapwing.log.line import LogLine
from lapwing.log.standard_error import StandardError
from lapwing.text import json_text, log_text, one_line, traceback_text

if TYPE_CHECKING:
    from lapwing.config.log import LogSection

Write = Callable[[LogLine], None]
_WORDS = {"info": "info", "notice": "notice", "warning": "notice", "error": "error"}


class LogPrinter(logging.Handler):
    """Lines at the level that is wanted of their subject.

    Args:
        write: Takes a line out of here.
        settings: The ``[log]`` table.
    """

    def __init__(self, write: Write, settings: LogSection) -> None:
        super().__init__()
        self._write = write
        self._level: str = settings.level
        self._levels: dict[str, str] = {str(subject): level for subject, level in settings.levels.items()}

    def line(self, line: LogLine) -> None:
        """Prints one, if it is wanted."""
        if line.is_at_least(self._levels.get(line.subject, self._level)):
            self._write(line)

    def notice(self, text: str, subject: str = "other") -> None:
        """Prints something that the operator should know."""
        self.line(LogLine(subject, "notice", one_line(text)))

    def warning(self, text: str, subject: str = "other") -> None:
        """Prints something that did not go as the operator wanted."""
        self.line(LogLine(subject, "warning", one_line(text)))

    def error(self, text: str, error: Exception, subject: str = "other") -> None:
        """Prints what should not have been raised, and where it was."""
        self.line(LogLine(subject, "error", f"{one_line(text)}\n{traceback_text(error)}"))

    def step(self, text: str) -> None:
        """Prints what happens to the broker itself as it ends, whatever level is wanted."""
        self._write(LogLine("end", "step", text))

    def failure(self, text: str, subject: str) -> None:
        """Prints why there is no broker, or none any more, whatever level is wanted."""
        self._write(LogLine(subject, "error", one_line(text)))

    def emit(self, record: logging.LogRecord) -> None:
        """A record of Python's logging: what hooks and HTTP have to say."""
        level = "error" if record.levelno >= logging.ERROR else "warning"
        subject = record.name.removeprefix("lapwing.").partition(".")[0]
        self.line(LogLine(subject if subject in SUBJECTS else "other", level, log_text(record)))

    @contextmanager
    def takes_logging(self) -> Iterator[None]:
        """While it is open, warnings and errors of Python's logging are printed here."""
        root = logging.getLogger()
        self.setLevel(logging.WARNING)
        root.addHandler(self)
        try:
            yield
        finally:
            root.removeHandler(self)


def printer_of(settings: LogSection) -> LogPrinter:
    """Prints on standard error, or to journald.

    Raises:
        ConfigError: ``format = "journald"``, and there is none.
    """
    if settings.format == "journald" or (settings.format == "auto" and is_standard_error()):
        journal = Journal()
        return LogPrinter(lambda line: journal.write(line.level, line.subject, line.text, line.facts), settings)
    form, out = _as_json if settings.format == "json" else _as_text, StandardError()

    def write(line: LogLine) -> None:
        out.write(form(line), lambda said: form(LogLine("other", "notice", said)))

    return LogPrinter(write, settings)


def _as_text(line: LogLine) -> str:
    word = _WORDS.get(line.level)
    return line.text if word is None else f"{word}: {line.text}"


def _as_json(line: LogLine) -> str:
    at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    document = {
        "at": at,
        "level": "notice" if line.level == "step" else line.level,
        "subject": line.subject,
        "message": line.text,
        **line.facts,
    }
    return json_text(document, ascii_only=True)
