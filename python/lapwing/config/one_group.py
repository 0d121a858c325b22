"""One group's table by itself, as it comes and goes while a broker runs: over HTTP, or from Python."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from lapwing.config.groups import GroupConfig, Groups, group_table
from lapwing.config.layers import Layer
from lapwing.config.problems import config_error
from lapwing.config.show import table_of
from lapwing.errors import ConfigError

_KEYS_MAX = 64
"""More than a table has, by far."""
_VALUES_MAX = 20_000
"""In a whole table, its rules and their topics included."""


class _OneGroup(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    groups: Groups


def parse_group(name: str, table: Mapping[str, object], place: str) -> GroupConfig:
    """The table of one share name or pattern, with the keys and units of the file.

    Args:
        name: Share name or pattern.
        table: ``{"strategy": "lef", "behind": "5s"}``.
        place: Where it comes from, for the reader of an error.

    Raises:
        ConfigError: with every problem found.
    """
    if problem := _size_problem(table):
        raise ConfigError(problem, where=place, remedy="send less: docs/groups.md has the keys of a table")
    document = {"groups": {name: dict(table)}}
    try:
        return _OneGroup.model_validate(document).groups[name]
    except ValidationError as error:
        layer = Layer(document, {("groups", name): place})
        raise config_error(error, _OneGroup, (layer,)) from error


def _size_problem(table: Mapping[str, object]) -> str:
    """What there is too much of to be looked at one by one; empty: nothing."""
    if len(table) > _KEYS_MAX:
        return f"the table has {len(table):,} keys, more than {_KEYS_MAX}"
    left: list[object] = list(table.values())
    count = 0
    while left:
        value = left.pop()
        if isinstance(value, (Mapping, list)):
            count += len(value)
            if count > _VALUES_MAX:
                return f"the table has more than {_VALUES_MAX:,} values"
            left.extend(value.values() if isinstance(value, Mapping) else value)
    return ""


def group_json(group: GroupConfig) -> str:
    """What ``lapwing._core.Node.put_group`` takes."""
    return json.dumps(group_table(group))


def changed_tables(before: Mapping[str, GroupConfig], now: Mapping[str, GroupConfig]) -> dict[str, Any]:
    """Tables that are new or changed, in the node's own names, and None for those that are gone."""
    changed = {name: group_table(group) for name, group in now.items() if before.get(name) != group}
    return {**changed, **{name: None for name in before if name not in now}}


def written_group(table: Mapping[str, Any]) -> dict[str, object]:
    """A table as the node has it, with the keys and units of the file: ``behind_ms = 5000`` as ``behind = "5s"``."""
    return table_of(GroupConfig.model_validate(_without_units(table)))


def _without_units(table: Mapping[str, Any]) -> dict[str, Any]:
    rules = [_in_milliseconds(rule) for rule in table.get("rules", [])]
    return {**_in_milliseconds(table), "rules": rules}


def _in_milliseconds(table: Mapping[str, Any]) -> dict[str, Any]:
    pairs = ((key.removesuffix("_ms"), f"{value}ms" if key.endswith("_ms") else value) for key, value in table.items())
    return {key: value for key, value in pairs if value not in (None, "Nonems")}
