"""Text of others (a topic, a client id, an answer, a payload) on its way to a terminal, a log, a table or a page.

Whoever prints what a peer chose does it through here, and nowhere else: a line feed begins a line that nobody wrote, an
escape sequence moves the cursor, and a mark of direction shows a line otherwise than it stands. ``one_line`` is the
rule; the others are it, for bytes, for JSON, for logs.
"""

from __future__ import annotations

import json
import logging
import shlex
import traceback
from collections.abc import Callable

_CHAIN_MAX = 8


def one_line(text: str) -> str:
    """``text`` with everything escaped that would not be shown as it is: what has no shape of its own, and every kind
    of space but the plain one.
    """
    return text if text.isprintable() else text.translate(_Escapes(_shown))


def shell_word(text: str) -> str:
    """``text`` as one word that can be pasted into a shell, on one line; what has no shape by its bytes."""
    if text.isprintable():
        return shlex.quote(text)
    escaped = (_in_shell(character) for character in text)
    return f"$'{''.join(escaped)}'"


def _in_shell(character: str) -> str:
    if character in "\\'":
        return f"\\{character}"
    if character.isprintable():
        return character
    return "".join(f"\\{byte:03o}" for byte in character.encode(errors="surrogateescape"))


def payload_text(payload: bytes) -> str:
    """A payload on one line; what is not UTF-8 is escaped byte by byte."""
    return one_line(payload.decode(errors="backslashreplace"))


def json_text(document: object, *, ascii_only: bool = False, compact: bool = False) -> str:
    """A JSON document on one line, in the characters of its language; what has no shape is escaped as JSON does it."""
    separators = (",", ":") if compact else (", ", ": ")
    text = json.dumps(document, ensure_ascii=ascii_only, separators=separators)
    return text if text.isprintable() else text.translate(_Escapes(_shown_in_json))


class Lines(str):
    """Text of several lines that was put together here, of parts that are on one line each: logs leave it as it is."""

    __slots__ = ()


class LogFormatter(logging.Formatter):
    """Log records as their text; what is filled in, and what exceptions say, is on one line."""

    def format(self, record: logging.LogRecord) -> str:
        """The record's text, with the traceback of what was raised."""
        return log_text(record)


def log_text(record: logging.LogRecord) -> str:
    """What a record says, its traceback included."""
    text = _filled(record)
    if record.exc_info and (error := record.exc_info[1]) is not None:
        text = f"{text}\n{traceback_text(error)}"
    return text


def raised(error: BaseException) -> str:
    """What an exception says, on one line."""
    return one_line("".join(traceback.format_exception_only(error)).removesuffix("\n"))


def traceback_text(error: BaseException, say: Callable[[BaseException], str] = raised) -> Lines:
    """Where ``error`` and what led to it were raised, and what each says, as ``say`` has it on one line."""
    parts: list[str] = []
    seen: BaseException | None = error
    while seen is not None and len(parts) < _CHAIN_MAX:
        frames = "".join(traceback.format_tb(seen.__traceback__))
        parts.append(f"Traceback (most recent call last):\n{frames}{say(seen)}")
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)
    return Lines("\nwhich was raised while this was handled:\n".join(parts))


def _filled(record: logging.LogRecord) -> str:
    if not record.args:
        return str(record.msg) if isinstance(record.msg, Lines) else one_line(str(record.msg))
    if isinstance(record.args, tuple):
        return str(record.msg) % tuple(map(_argument, record.args))
    return str(record.msg) % {name: _argument(value) for name, value in record.args.items()}


def _argument(value: object) -> object:
    """An argument of a log record; only numbers know their formats."""
    if isinstance(value, (int, float, Lines)):
        return value
    return one_line(str(value))


class _Escapes(dict[int, str]):
    """What stands for each character of one text: looked up once, however often somebody has put it there."""

    def __init__(self, show: Callable[[str], str]) -> None:
        self._show = show

    def __missing__(self, code: int) -> str:
        self[code] = shown = self._show(chr(code))
        return shown


def _shown(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode()


def _shown_in_json(character: str) -> str:
    return character if character.isprintable() else json.dumps(character)[1:-1]
