"""What stands in a configuration in the place of something of another kind, and would be taken all the same.

pydantic takes ``true`` for 1, and a name with U+0000 for a path; a table of the environment or of flags hides what a
file has under its name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from lapwing.config.layers import KeyPath, Layer
from lapwing.config.problems import place_of, show_key, show_value
from lapwing.config.units import has_unit
from lapwing.errors import LapwingError

_Wrong = tuple[KeyPath, str, str]
"""Where it stands, as it is shown, and what it must be."""


def without_wrong_kinds(
    layers: Sequence[Layer], model: type[BaseModel]
) -> tuple[tuple[Layer, ...], list[LapwingError], list[KeyPath]]:
    """The layers without such values; what there is to say of each; where it stands."""
    left, problems, paths = list[Layer](), list[LapwingError](), list[KeyPath]()
    for layer in layers:
        found = list(_in_table(layer.values, model, ()))
        problems += [
            LapwingError(f"{show_key(path)} = {shown}", where=place_of(path, [layer]), remedy=remedy)
            for path, shown, remedy in found
        ]
        wrong = [path for path, _, _ in found]
        left.append(_without(layer, wrong) if found else layer)
        paths += wrong
    return tuple(left), problems, paths


def _in_table(values: Mapping[str, Any], model: type[BaseModel], above: KeyPath) -> Iterator[_Wrong]:
    for name, value in values.items():
        field = model.model_fields.get(name)
        # Who reads a size or a duration refuses it, and says how one is written.
        if field is not None and not has_unit(field):
            yield from _at(value, field.annotation, (*above, name))


def _at(value: object, annotation: object, path: KeyPath) -> Iterator[_Wrong]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if isinstance(value, Mapping):
            yield from _in_table(value, annotation, path)
        elif len(path) == 1:  # of others pydantic says so
            yield path, show_value(value), f"must be a table, as in [{show_key(path)}]"
    elif isinstance(value, bool) and _is_number(annotation):
        yield path, show_value(value), "must be a number"
    elif isinstance(value, str) and "\0" in value and Path in _kinds(annotation):
        yield path, show_value(value), "must be a path without U+0000"
    elif get_origin(annotation) is list and isinstance(value, str):  # one of them may stand there alone
        yield from _at(value, get_args(annotation)[-1], path)
    elif get_origin(annotation) in (dict, list) and isinstance(value, Mapping | list):
        items = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, item in items:
            yield from _at(item, get_args(annotation)[-1], (*path, str(key)))


def _is_number(annotation: object) -> bool:
    kinds = set(_kinds(annotation))
    return bool(kinds & {int, float}) and bool not in kinds


def _kinds(annotation: object) -> Iterator[object]:
    """What the annotation names, through unions and ``Annotated``, and nothing that stands in tables and lists."""
    if get_origin(annotation) in (dict, list, tuple, set, frozenset):
        return
    if arguments := get_args(annotation):
        for argument in arguments:
            yield from _kinds(argument)
    else:
        yield annotation


def _without(layer: Layer, paths: Sequence[KeyPath]) -> Layer:
    values = deepcopy(layer.values)
    for path in paths:
        table: Any = values
        for name in path[:-1]:
            table = table[int(name) if isinstance(table, list) else name]
        if isinstance(table, list):
            table.clear()  # so that none of its other items gets another number
        else:
            del table[path[-1]]
    return replace(layer, values=values)
