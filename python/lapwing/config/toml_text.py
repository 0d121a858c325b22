"""Values as TOML, on one line."""

from __future__ import annotations

import json
import re

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def toml_key(name: str) -> str:
    """A key, in quotes where it must be."""
    return name if _BARE_KEY.fullmatch(name) else _string(name)


def toml_value(value: object) -> str:
    """A string, number, truth, list or table; a table is written inline."""
    if isinstance(value, dict):
        pairs = (f"{toml_key(key)} = {toml_value(below)}" for key, below in value.items())
        return f"{{ {', '.join(pairs)} }}" if value else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, str):
        return _string(value)
    return json.dumps(value)


def _string(text: str) -> str:
    # JSON's escapes are TOML's; only DEL is allowed there and not here.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")
