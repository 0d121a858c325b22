"""On which line of a TOML file each key stands; ``tomllib`` reads values and forgets places.

The scan expects text that ``tomllib`` has accepted, so it needs no errors of its own: it follows table
headers, keys, strings, comments and brackets, and nothing else. Keys of inline tables carry the line on
which the table's own key stands.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter

Path = tuple[str, ...]
_STRING = re.compile(r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'', re.DOTALL)
_COMMENT = re.compile(r"#[^\n]*")


def key_lines(text: str) -> dict[Path, int]:
    """Line (from 1) of each key and table header, by its full path; ``[[rules]]`` is ("rules", "0"), then "1"."""
    lines: dict[Path, int] = {}
    repeated: Counter[Path] = Counter()
    table: Path = ()
    position = 0
    while position < len(text):
        end = _statement_end(text, position)
        statement = text[position:end].strip()
        line = text.count("\n", 0, position + len(text[position:end]) - len(text[position:end].lstrip())) + 1
        if statement.startswith("["):
            table = _header_path(statement)
            lines.setdefault(table, line)
            if statement.startswith("[["):
                repeated[table] += 1
                table = (*table, str(repeated[table] - 1))
                lines[table] = line
        elif statement and not statement.startswith("#"):
            lines[table + _key_path(statement)] = line
        position = end + 1
    return lines


def _statement_end(text: str, position: int) -> int:
    """Index of the line feed that ends the statement: the first outside strings and brackets."""
    depth = 0
    while position < len(text):
        character = text[position]
        skip = _STRING if character in "\"'" else _COMMENT if character == "#" else None
        if skip and (match := skip.match(text, position)):
            position = match.end()
            continue
        if character == "\n" and depth == 0:
            return position
        depth += (character in "[{") - (character in "]}")
        position += 1
    return position


def _header_path(statement: str) -> Path:
    """``[a."b.c"]`` -> ("a", "b.c"); tomllib itself reads the dotted key."""
    document = tomllib.loads(statement)
    return _only_path(document)


def _key_path(statement: str) -> Path:
    """``a.b = [1, 2]`` -> ("a", "b")."""
    equals = next(match.end() for match in _EQUALS.finditer(statement))
    return _only_path(tomllib.loads(statement[:equals] + " 0"))


_EQUALS = re.compile(r"^(?:" + _STRING.pattern + r"|[^=\"'])*=", re.DOTALL)


def _only_path(document: object) -> Path:
    path: list[str] = []
    while document:
        if isinstance(document, list):  # an array of tables, [[name]]
            document = document[0]
        elif isinstance(document, dict):
            name, document = next(iter(document.items()))
            path.append(name)
        else:
            break
    return tuple(path)
