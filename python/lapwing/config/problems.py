"""Turns a validation error into problems a person can act on: key, value, place, remedy, one line each."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from lapwing.config.layers import KeyPath, Layer
from lapwing.config.secret_text import without_secrets
from lapwing.config.units import show_number
from lapwing.errors import ConfigError, LapwingError
from lapwing.text import one_line

_VALUE_CHARACTERS_MAX = 80
_LOOKED_AT_MAX = 512
"""Of a value so much is looked through for secrets, which takes the square of its length."""
PROBLEMS_MAX = 100
_GUESSED_CHARACTERS_MAX = 64
"""Of a longer key nobody guesses what was meant."""


def config_error(error: ValidationError, model: type[BaseModel], layers: Sequence[Layer]) -> ConfigError:
    """The problems of ``error``, 100 at most; ``layers`` (the strongest first) tell where each value came from."""
    details = error.errors(include_url=False)
    problems = [_problem(detail, model, layers) for detail in details[:PROBLEMS_MAX]]
    if (more := len(details) - PROBLEMS_MAX) > 0:
        problems.append(LapwingError(f"{more:,} more problems", remedy="correct these first"))
    return ConfigError("the configuration is wrong", problems=problems)


def _problem(detail: ErrorDetails, model: type[BaseModel], layers: Sequence[Layer]) -> LapwingError:
    path = key_path(detail["loc"])
    if not path:  # of no key in particular
        return LapwingError("the configuration as a whole", remedy=_reason(detail))
    key = show_key(path)
    where = place_of(path, layers) or "given in Python"
    if detail["type"] == "extra_forbidden":
        return LapwingError(f"unknown key {key}", where=where, remedy=_suggestion(path, model))
    if detail["type"] == "missing":
        return LapwingError(f"{key} is missing", where=where, remedy=f"add {path[-1]} = ... there")
    if detail["loc"][-1] == "[key]":
        return LapwingError(f"{key}: bad name", where=where, remedy=_reason(detail))
    remedy = _bound(detail, _fields_at(path[:-1], model).get(path[-1])) or _reason(detail)
    return LapwingError(f"{key} = {show_value(detail['input'])}", where=where, remedy=remedy)


def _bound(detail: ErrorDetails, field: FieldInfo | None) -> str:
    """What a number must be that is out of bounds, as one writes it; empty: something else is wrong."""
    word = {"less_than_equal": ("le", "less"), "greater_than_equal": ("ge", "greater")}.get(detail["type"])
    if word is None or field is None:
        return ""
    bound, than = word
    return f"must be {than} than or equal to {show_number(detail['ctx'][bound], field)}"


def key_path(location: Sequence[int | str]) -> KeyPath:
    """The key in pydantic's location; its own marks (``[key]``) are left out."""
    return tuple(str(part) for part in location if part != "[key]")


def show_key(path: KeyPath) -> str:
    """``broker.listen[1]``, ``listeners[0].url``."""
    return "".join(f"[{name}]" if name.isdigit() else f".{name}" for name in path).removeprefix(".")


def place_of(path: KeyPath, layers: Sequence[Layer]) -> str:
    """Where the strongest layer that has ``path``, or else the nearest table above it, says so."""
    for length in range(len(path), 0, -1):
        for layer in layers:
            if has_value(layer.values, path[:length]):
                return _nearest_place(path[:length], layer)
    return ""


def has_value(values: object, path: KeyPath) -> bool:
    """Whether there is something at ``path``; numbers stand for items of lists."""
    for name in path:
        if isinstance(values, Mapping) and name in values:
            values = values[name]
        elif isinstance(values, list) and name.isdigit() and int(name) < len(values):
            values = values[int(name)]
        else:
            return False
    return True


def _nearest_place(path: KeyPath, layer: Layer) -> str:
    """The place of ``path``, of a table above it, or of the first key below it (``a.b = 1``)."""
    for length in range(len(path), 0, -1):
        if path[:length] in layer.places:
            return layer.places[path[:length]]
        below = (place for known, place in layer.places.items() if known[:length] == path[:length])
        if (place := next(below, None)) is not None:
            return place
    return ""


def _reason(detail: ErrorDetails) -> str:
    if detail["type"] in ("model_type", "dict_type"):
        return "must be a table"
    return re.sub(r"^Input should be", "must be", detail["msg"].removeprefix("Value error, "))


def show_value(value: object) -> str:
    """On one line, cut off where it is long, and without what looks like a secret."""
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value)
    if len(text) > _LOOKED_AT_MAX:
        # The end that was cut off may be the host of a URL, and what stands before it a password.
        text = f"{text[:_LOOKED_AT_MAX]}@"
    text = one_line(f'"{without_secrets(text)}"' if isinstance(value, str) else without_secrets(text))
    return text if len(text) <= _VALUE_CHARACTERS_MAX else f"{text[:_VALUE_CHARACTERS_MAX]}..."


def _suggestion(path: KeyPath, model: type[BaseModel]) -> str:
    """The near match, from this table first, else from anywhere in the model, else the keys there are."""
    if (meant := meant_key(path, model)) != path:
        return f"did you mean {show_key(meant)}?"
    here = sorted(_fields_at(path[:-1], model))
    return f"remove it; known here: {', '.join(here)}" if here else "remove it"


def meant_key(path: KeyPath, model: type[BaseModel]) -> KeyPath:
    """The key that somebody may have meant who wrote ``path``, which is none; ``path`` itself: nobody knows."""
    is_short = len(path[-1]) <= _GUESSED_CHARACTERS_MAX
    here = sorted(_fields_at(path[:-1], model)) if is_short else []
    near = difflib.get_close_matches(path[-1], here, n=1, cutoff=0.6)
    if near:
        return *path[:-1], near[0]
    return next((known for known in all_paths(model) if known[-1] == path[-1]), path)


def _fields_at(path: KeyPath, model: type[BaseModel]) -> dict[str, Any]:
    table: type[BaseModel] | None = model
    names = list(path)
    while names and table is not None:
        field = table.model_fields.get(names.pop(0))
        table = _table_type(field.annotation) if field else None
        if field is not None and field.annotation is not table and names:
            names.pop(0)  # a table of tables: the name between is the user's own
    return dict(table.model_fields) if table else {}


def _table_type(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for argument in get_args(annotation) if (found := _table_type(argument))), None)


def all_paths(model: type[BaseModel], above: KeyPath = ()) -> list[KeyPath]:
    """Of all tables and keys, but those in tables whose names are the user's own."""
    paths: list[KeyPath] = []
    for name, field in model.model_fields.items():
        paths.append((*above, name))
        if (table := _table_type(field.annotation)) is field.annotation and table is not None:
            paths.extend(all_paths(table, (*above, name)))
    return paths
