"""JSON that lies many levels deep, without the recursion of a parser: what lies too deep is cut away.

A parser goes down by calling itself, and Python ends that after some hundred levels, counted from wherever it was
called. So a text is made shallow before it is parsed. What is cut away is held against the grammar first, with a stack
of its own: the text has no fewer faults than before. Both take a time that grows with the text and with nothing else.
"""

from __future__ import annotations

import re

LEVELS_MAX = 200
"""Arrays and objects within each other that are left; no member of a contract has any."""

_SPACE = r"[ \t\n\r]*"
_STRING = r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"'
_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"
_TOKEN = re.compile(
    rf"{_SPACE}(?:(?P<open>[\[{{])|(?P<close>[\]}}])|(?P<comma>,)|(?P<key>{_STRING}{_SPACE}:)"
    rf"|(?P<value>{_STRING}|{_NUMBER}|true|false|null))"
)
_LEVEL = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[{]|[\]}]', re.DOTALL)
"""A bracket, or a string, in which brackets mean nothing; one without an end is the last."""
_CLOSING = {"[": "]", "{": "}"}
_FIRST = {"[": ("open", "close", "value"), "{": ("key", "close")}
"""Which tokens may follow a bracket."""
_MORE = {"[": ("open", "value"), "{": ("key",)}
"""Which tokens may follow a comma within one."""


def shallow(text: str) -> str:
    """``text``, with an empty array for each array or object of its first value that lies below `LEVELS_MAX` others.

    Raises:
        ValueError: what lies there is no JSON. The rest is not looked at.
    """
    if text.count("[") + text.count("{") <= LEVELS_MAX:
        return text
    kept: list[str] = []
    since = at = depth = 0
    while found := _LEVEL.search(text, at):
        at = found.end()
        if found[0] in _CLOSING and depth == LEVELS_MAX:
            kept += (text[since : found.start()], "[]")
            since = at = _end(text, found.start())
        elif found[0] in _CLOSING:
            depth += 1
        elif found[0] in ("]", "}"):
            depth -= 1
            if depth <= 0:
                break
    return "".join((*kept, text[since:])) if kept else text


def _end(text: str, start: int) -> int:
    """Where the array or object ends that begins at ``start``."""
    within: list[str] = []
    may: tuple[str, ...] = ("open",)
    at = start
    while found := _TOKEN.match(text, at):
        kind, at = found.lastgroup, found.end()
        if kind not in may or (kind == "close" and _CLOSING[within.pop()] != found[kind]):
            break
        if kind == "open":
            within.append(found[kind])
            may = _FIRST[within[-1]]
        elif kind == "key":
            may = ("open", "value")
        elif kind == "comma":
            may = _MORE[within[-1]]
        elif within:
            may = ("comma", "close")
        else:
            return at
    raise ValueError(f"no JSON stands at character {at}")
