"""Files of settings as ``java.util.Properties`` reads and writes them: Kafka's own tools have theirs so. Pure.

A name ends at the first ``=`` or ``:``; a backslash takes its meaning from what follows it, or gives it one
(``\\t \\n \\r \\f \\uXXXX``); at the end of a line it goes on on the next. ``Properties.store`` writes ``host\\:9092``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_LINE_END = re.compile(r"\r\n|\r|\n")
_BLANK = " \t\f"
_NAME = re.compile(r"(?:\\.|[^\\=: \t\f])*", re.DOTALL)
_BETWEEN = re.compile(r"[ \t\f]*[=:]?[ \t\f]*")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_MEANT = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def properties(text: str) -> Iterator[tuple[int, str, str | None]]:
    """Each setting: the line where it begins, its name and its value; None: nothing stands between the two.

    Java takes a space for that, too: a line that is no setting at all would be one.

    Raises:
        ValueError: ``\\u`` without four hexadecimal digits. The text is not in the error, for it may hold a secret.
    """
    for number, line in _lines(text):
        name = _NAME.match(line)
        assert name is not None  # it may be empty
        between = _BETWEEN.match(line, name.end())
        assert between is not None  # the same
        value = _plain(line[between.end() :]) if between.group().strip(_BLANK) else None
        yield number, _plain(name.group()), value


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines that say something, each with those on which it goes on, and the number of its first."""
    begun, said = 0, ""
    for number, line in enumerate(_LINE_END.split(text), start=1):
        rest = line.lstrip(_BLANK)
        if not begun and (not rest or rest[0] in "#!"):
            continue
        begun, said = begun or number, said + rest
        if _goes_on(said):
            said = said[:-1]
        else:
            yield begun, said
            begun, said = 0, ""
    if begun:
        yield begun, said


def _goes_on(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _plain(text: str) -> str:
    # Java's characters have 16 bits: two of them may be one of ours.
    return _ESCAPE.sub(_unescaped, text).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _unescaped(found: re.Match[str]) -> str:
    said = found[1]
    if said == "u":
        raise ValueError("a \\u without four hexadecimal digits")
    return chr(int(said[1:], 16)) if len(said) > 1 else _MEANT.get(said, said)
