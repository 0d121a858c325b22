"""``KEY=VALUE`` on a group's table: ``behind=5s``, ``parameters.window=3``, ``missed_topic=`` for the default."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from lapwing.config.layers import parse_text
from lapwing.errors import ConfigError


def changed(table: Mapping[str, Any], assignments: Iterable[str]) -> dict[str, Any]:
    """A copy of ``table`` with each assignment made; nothing after ``=`` takes the key out.

    Raises:
        ConfigError: not ``KEY=VALUE``, or a key below something that is no table.
    """
    new = {key: dict(value) if isinstance(value, Mapping) else value for key, value in table.items()}
    for text in assignments:
        key, equals, value = text.partition("=")
        path = [part.strip() for part in key.split(".")]
        if not equals or not all(path) or len(path) > 2:
            remedy = "write it as strategy=lef, parameters.window=3, or behind= for the default"
            raise ConfigError(f"{text!r} is not KEY=VALUE", remedy=remedy)
        below = new if len(path) == 1 else new.setdefault(path[0], {})
        if not isinstance(below, dict):
            raise ConfigError(f"{path[0]} has no keys below it", where=text, remedy=f"write {path[0]}=VALUE")
        if value:
            below[path[-1]] = parse_text(value, text)
        else:
            below.pop(path[-1], None)
    return new
