"""The records of a CSV file, whatever program wrote it: delimiter, line ends, quotes, byte order marks.

A record that cannot be read costs itself and no other: a quote that nobody closes would otherwise swallow what
follows it, in silence.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, TextIO

DELIMITERS = (",", ";", "\t", "|")
LINE_CHARS_MAX = 131_072
"""A line that is longer is no row of a trace."""

_GZIP = b"\x1f\x8b"
_BY_ZEROS = {
    b"\1\0\1\0": "utf-16-le",
    b"\0\1\0\1": "utf-16-be",
    b"\1\0\0\0": "utf-32-le",
    b"\0\0\0\1": "utf-32-be",
}
RECORD_LINES_MAX = 16
"""A quoted text with more line ends is a quote that somebody forgot to close."""


@dataclass(frozen=True, slots=True)
class Record:
    """The fields of one record; ``line`` is where it begins, counted from 1."""

    line: int
    fields: list[str]


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A line that is no record, and why."""

    line: int
    problem: str


def as_text(raw: BinaryIO) -> TextIO:
    """The text of a file, compressed with gzip or not: UTF-8 with or without a byte order mark, UTF-16 or UTF-32; bytes
    that are none of it become U+FFFD.
    """
    buffered = _buffered(raw)
    if buffered.peek(2)[:2] == _GZIP:
        buffered = _buffered(gzip.GzipFile(fileobj=buffered))
    return io.TextIOWrapper(buffered, encoding=_encoding(buffered.peek(4)[:4]), errors="replace", newline="")


def _buffered(raw: Any) -> io.BufferedReader:
    return raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(raw)


def _encoding(head: bytes) -> str:
    """By the byte order mark; without one by the zeros beside the first letter, which is of a header in ASCII."""
    if head in (b"\xff\xfe\0\0", b"\0\0\xfe\xff"):
        return "utf-32"
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    return _BY_ZEROS.get(bytes(byte and 1 for byte in head), "utf-8-sig")


class Lines:
    """The records of a text, after its header."""

    def __init__(self, text: TextIO) -> None:
        self._text = text
        self._line = 0
        self._back: deque[tuple[int, str]] = deque()
        self._delimiter = ","

    @property
    def delimiter(self) -> str:
        """What stands between fields."""
        return self._delimiter

    def header(self, wanted: Sequence[str]) -> list[str]:
        """The names of the columns, without space around them; empty where there is no line.

        The delimiter is the one of ``DELIMITERS`` with which the header has most of the ``wanted`` names.
        """
        found = self._next_with_text()
        if found is not None and found[1].lower().startswith("sep="):  # Excel's own word for the delimiter
            found = self._next_with_text()
        if found is None:
            return []
        line = found[1]

        def named(delimiter: str) -> int:
            return len(set(wanted) & set(_header(line, delimiter)))

        self._delimiter = max(DELIMITERS, key=named)
        return _header(line, self._delimiter)

    def records(self) -> Iterator[Record | Unreadable]:
        """Every record or line that is none, in order; empty lines are left out."""
        while (found := self._next()) is not None:
            number, line = found
            if not line.strip():
                continue
            if len(line) > LINE_CHARS_MAX:
                yield Unreadable(number, f"a line of more than {LINE_CHARS_MAX} characters")
            elif '"' not in line:
                yield Record(number, line.split(self._delimiter))
            else:
                yield self._quoted(number, line)

    def _quoted(self, number: int, line: str) -> Record | Unreadable:
        """A record with quotes, which may go on on the lines below."""
        lines = [line]
        while True:
            try:
                fields = _split("\n".join(lines), self._delimiter)
            except csv.Error as problem:
                self._give_back(number, lines[1:])
                return Unreadable(number, str(problem))
            if fields is not None:
                return Record(number, fields)
            following = self._next() if len(lines) < RECORD_LINES_MAX else None
            if following is None:
                self._give_back(number, lines[1:])
                return Unreadable(number, "a quote is opened and not closed")
            lines.append(following[1])

    def _give_back(self, number: int, lines: Sequence[str]) -> None:
        self._back.extendleft(reversed([(number + 1 + index, line) for index, line in enumerate(lines)]))

    def _next_with_text(self) -> tuple[int, str] | None:
        while (found := self._next()) is not None:
            if found[1].strip():
                return found
        return None

    def _next(self) -> tuple[int, str] | None:
        """The next line without its end, of which a long one keeps a little more than what is allowed."""
        if self._back:
            return self._back.popleft()
        line = self._text.readline(LINE_CHARS_MAX + 2)
        if not line:
            return None
        self._line += 1
        rest = line
        while not rest.endswith(("\n", "\r")) and (rest := self._text.readline(LINE_CHARS_MAX)):
            pass
        return self._line, line.rstrip("\r\n")


def _header(line: str, delimiter: str) -> list[str]:
    """The names in a line; none where it is no line of fields with that delimiter."""
    try:
        return [name.strip() for name in _split(line, delimiter) or []]
    except csv.Error:
        return []


def _split(record: str, delimiter: str) -> list[str] | None:
    """The fields; None where a quote is still open at the end.

    Raises:
        csv.Error: something stands between a closing quote and the delimiter.
    """
    reader = csv.reader([record], delimiter=delimiter, strict=True)
    try:
        return next(reader)
    except csv.Error as problem:
        if "unexpected end of data" in str(problem):
            return None
        raise
    except StopIteration:
        return None
