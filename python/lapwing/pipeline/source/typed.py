"""Options as text -> values, by the fields of a dataclass: what every source's options have in common."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import Field
from difflib import get_close_matches
from typing import Any

from lapwing.errors import ConfigError

_NUMBER = re.compile(r"\+?(\d+|\d+\.\d*|\.\d+)([eE][+-]?\d{1,2})?", re.ASCII)
_MOST: Mapping[str, float] = {"int": 2**31 - 1, "float": 1e6}
"""More fits neither into what Spark counts with nor into a clock of the system."""
_ABOVE_ZERO = frozenset(("timeout_s", "rows_per_request", "bytes_per_request"))
"""Of the others 0 has a meaning of its own, or takes a limit away."""
_OFFSET_MAX = 2**63 - 1
_ELSEWHERE = {
    "maxoffsetspertrigger": "max_rows_per_batch",
    "maxrowspertrigger": "max_rows_per_batch",
    "startingoffsets": "start",
    "failondataloss": "on_trimmed",
    "minpartitions": "tasks",
    "kafka.bootstrap.servers": "url",
}
"""How Spark's Kafka source calls what ours have, too."""


def typed_options(known: Iterable[Field[Any]], given: Mapping[str, str], where: str) -> dict[str, Any]:
    """The values of ``given`` as the types of their fields say.

    Args:
        known: A dataclass's fields: ``str``, ``int``, ``float`` or ``Literal``; numbers are at least 0, or above it.
        given: By name; Spark keeps no case: ``tokenFile``, ``token_file`` and ``tokenfile`` are one.
        where: For errors.

    Raises:
        ConfigError: An option is unknown, or no such value.
    """
    fields = {_plain(each.name): each for each in known}
    typed: dict[str, Any] = {}
    for name, value in given.items():
        if (each := fields.get(_plain(name))) is None:
            # Its value is not shown: a misspelled secret is one all the same.
            meant = _meant(name, fields)
            remedy = f"{meant}options are {', '.join(each.name for each in fields.values())}"
            raise ConfigError(f"there is no option {name}", where=where, remedy=remedy)
        typed[each.name] = _typed(each.name, str(each.type), value, where)
    return typed


def _meant(name: str, fields: Mapping[str, Field[Any]]) -> str:
    """Which option does what this one does elsewhere, or is written nearly so."""
    elsewhere = _ELSEWHERE.get(_plain(name), "")
    near = get_close_matches(_plain(name), fields, n=1)
    found = elsewhere if _plain(elsewhere) in fields else fields[near[0]].name if near else ""
    return f"did you mean {found}? " if found else ""


def offsets_option(name: str, text: str, where: str) -> Mapping[int, int]:
    """Offsets per partition from JSON."""
    try:
        pairs = json.loads(text, object_pairs_hook=list)
        found = {int(partition): offset for partition, offset in pairs}
        sound = len(found) == len(pairs) and all(map(_is_offset, (*found, *found.values())))
    except (ValueError, TypeError, RecursionError):
        sound = False
    if not sound:
        raise wrong_option(name, text, 'give earliest, latest or JSON {"PARTITION": OFFSET}', where)
    return found


def _is_offset(value: object) -> bool:
    return type(value) is int and 0 <= value <= _OFFSET_MAX


def wrong_option(name: str, value: str, remedy: str, where: str) -> ConfigError:
    """The error of an option that cannot be."""
    return ConfigError(f"option {name} = {value!r} cannot be", where=where, remedy=remedy)


def _plain(name: str) -> str:
    return name.lower().replace("_", "")


def _typed(name: str, kind: str, value: str, where: str) -> Any:
    try:
        if kind.startswith("Literal"):
            words = [word.strip(" \"'") for word in kind[len("Literal[") : -1].split(",")]
            return words[words.index(value)]
        number = {"int": int, "float": float}.get(kind)
        if number is None:
            return value
        if not _NUMBER.fullmatch(value.strip()):  # Python takes 1_0 for ten, and has NaN
            raise ValueError
        made = number(value)
        if made > _MOST[kind] or (made == 0 and name in _ABOVE_ZERO):
            raise ValueError
    except ValueError:
        raise wrong_option(name, value, _wanted(name, kind), where) from None
    return made


def _wanted(name: str, kind: str) -> str:
    if kind.startswith("Literal"):
        return f"give one of {kind[len('Literal[') : -1]}"
    return f"give {kind} {'>' if name in _ABOVE_ZERO else '>='} 0, at most {_MOST[kind]:.0f}"
