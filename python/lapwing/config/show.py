"""The effective configuration as text: every key, its value as one would write it, and where it came from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from lapwing.config.layers import KeyPath
from lapwing.config.load import Loaded
from lapwing.config.problems import show_key
from lapwing.config.toml_text import toml_key, toml_value
from lapwing.config.units import has_unit, show_number

_REPEATED = ("listeners", "rules")  # lists of tables, each written as [[name]]
_NAMED = ("streams", "topics", "groups", "hold")  # tables under names of the user's own


@dataclass(frozen=True)
class Entry:
    """One key of the effective configuration."""

    path: KeyPath
    value: object
    place: str

    @property
    def header(self) -> str:
        """The line above its table: ``[limits]``, or ``[[rules]]`` for one of several."""
        table = self.path[:-1]
        return f"[[{table[0]}]]" if table[0] in _REPEATED else f"[{'.'.join(map(toml_key, table))}]"


def entries(loaded: Loaded) -> list[Entry]:
    """Every key of ``loaded``, table by table, values as one writes them in a file."""
    return [Entry(path, value, loaded.place(path)) for path, value in _walk(loaded.config, ())]


def table_of(model: BaseModel) -> dict[str, object]:
    """One table's keys and values as one writes them in a file; what is absent is left out."""
    # Somewhere below the top, where "rules" and "groups" are other things.
    return {path[-1]: value for path, value in _walk(model, ("",))}


def _walk(table: BaseModel, above: KeyPath) -> Iterator[tuple[KeyPath, object]]:
    for name, field in type(table).model_fields.items():
        value = getattr(table, name)
        if isinstance(value, BaseModel):
            yield from _walk(value, (*above, name))
        elif name in _NAMED and not above:
            for key, below in value.items():
                yield from _walk(below, (*above, name, key))
        elif name in _REPEATED and not above:
            for number, below in enumerate(value):
                yield from _walk(below, (name, str(number)))
        elif value is None and is_left_out(field):
            continue
        else:
            yield (*above, name), written(value, field)


def is_left_out(field: FieldInfo) -> bool:
    """Whether nothing is written where nothing is set: there is no word for it, not even "off"."""
    return field.default is None and not field.metadata


def written(value: object, field: FieldInfo) -> object:
    """A value of the model as one writes it in a file: sizes and durations with their units."""
    if isinstance(value, list) and any(isinstance(item, BaseModel) for item in value):
        return [table_of(item) for item in value]
    if isinstance(value, Path):
        return str(value.absolute())  # what is shown may be kept in a file elsewhere, to which it would be relative
    if value is None:
        return "off"
    return show_number(value, field) if isinstance(value, int) and has_unit(field) else value


def as_toml(loaded: Loaded) -> str:
    """TOML that ``--config`` reads back; a comment on each line says where its value came from."""
    lines: list[str] = []
    table: KeyPath | None = None
    for entry in entries(loaded):
        if entry.path[:-1] != table:
            table = entry.path[:-1]
            lines += ["", entry.header]
        assignment = f"{entry.path[-1]} = {toml_value(entry.value)}"
        lines.append(f"{assignment:<48} # {entry.place}")
    return "\n".join(lines[1:])


def as_json(loaded: Loaded) -> str:
    """``{"broker.shards": {"value": 0, "from": "default"}, ...}``."""
    document = {show_key(entry.path): {"value": entry.value, "from": entry.place} for entry in entries(loaded)}
    return json.dumps(document, indent=2, ensure_ascii=False)
