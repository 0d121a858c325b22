"""Reads TOML. Python's reader also fails in ways that its own error does not stand for; here it is the only one."""

from __future__ import annotations

import tomllib
from typing import Any

_DEPTH_MAX = 32
"""Tables and lists in each other; more would be met by functions that call themselves, and nothing here has five."""


def parse_toml(text: str) -> dict[str, Any]:
    """The document.

    Raises:
        tomllib.TOMLDecodeError: whatever is wrong with it.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        raise _too_deep() from None
    except ValueError:  # an integer of thousands of digits
        raise tomllib.TOMLDecodeError("a number is too long (at end of document)") from None
    below: list[object] = [document]
    for _ in range(_DEPTH_MAX):
        below = [part for value in below for part in _parts(value)]
    if below:
        raise _too_deep()
    return document


def _too_deep() -> tomllib.TOMLDecodeError:
    return tomllib.TOMLDecodeError("lists or tables lie too deep in each other (at end of document)")


def _parts(value: object) -> list[object]:
    """What lies in a table or a list."""
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
