"""JSON of the node, parsed a list's item at a time.

The parser holds the interpreter's lock as long as it is called, in whichever thread: a whole page of clients with long
names would stop what answers everybody else.
"""

from __future__ import annotations

import json
import re
from typing import Any

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")


def parse_in_items(text: str) -> dict[str, Any]:
    """What ``json.loads`` makes of an object.

    Raises:
        ValueError: it is none.
    """
    found: dict[str, Any] = {}
    at = _past(text, 0, "{")
    while not text.startswith("}", at):
        name, at = _DECODER.raw_decode(text, at)
        at = _past(text, at, ":")
        found[name], at = _items(text, at + 1) if text.startswith("[", at) else _DECODER.raw_decode(text, at)
        at = _past_comma(text, at, "}")
    if _past_space(text, at + 1) != len(text):
        raise ValueError(f"something follows the object, at {at + 1}")
    return found


def _items(text: str, at: int) -> tuple[list[Any], int]:
    """The items of a list whose bracket stands before ``at``; and where it ends."""
    items: list[Any] = []
    at = _past_space(text, at)
    while not text.startswith("]", at):
        item, at = _DECODER.raw_decode(text, at)
        items.append(item)
        at = _past_comma(text, at, "]")
    return items, at + 1


def _past_comma(text: str, at: int, end: str) -> int:
    at = _past_space(text, at)
    return at if text.startswith(end, at) else _past(text, at, ",")


def _past(text: str, at: int, mark: str) -> int:
    at = _past_space(text, at)
    if not text.startswith(mark, at):
        raise ValueError(f"{mark!r} is missing at {at}")
    return _past_space(text, at + 1)


def _past_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()
