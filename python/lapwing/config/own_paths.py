"""Relative paths in a file are relative to that file: where a broker is started from does not change what it reads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel

from lapwing.config.layers import Layer
from lapwing.errors import ConfigError

_NO_FILE = ("", "off")


def beside(file: Path, layer: Layer, model: type[BaseModel]) -> Layer:
    """The layer of ``file`` with its relative paths seen from the working directory.

    Raises:
        ConfigError: the data folder is not there, and one of the same name lies where it was looked for before this: a
            broker that starts with an empty one has lost nothing, and it looks as if.
    """
    named = layer.values.get("broker", {})
    data = named.get("data") if isinstance(named, dict) else None
    values = _resolved(layer.values, model, file.parent)
    if isinstance(data, str) and not Path(data).is_absolute():
        _refuse_moved(file, Path(data), file.parent / data)
    return replace(layer, values=values)


def _refuse_moved(file: Path, before: Path, now: Path) -> None:
    if now.exists() or not (before / "lock").exists():
        return
    raise ConfigError(
        f"broker.data = {str(before)!r} is relative to its file: that is {now}, which is not there, and {before} is",
        where=str(file),
        remedy="move the folder, or write its whole path",
    )


def _resolved(values: Any, kind: Any, folder: Path) -> Any:
    """``values`` of a field of this type; whatever is not as the model has it, the model says later."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        if not isinstance(values, dict):
            return values
        fields = kind.model_fields
        return {
            name: _resolved(value, fields[name].annotation, folder) if name in fields else value
            for name, value in values.items()
        }
    if kind is Path:
        return _one(values, folder)
    parts = get_args(kind)
    if isinstance(values, dict):
        return {name: _resolved(value, parts[-1], folder) for name, value in values.items()} if parts else values
    if isinstance(values, list):
        return [_resolved(value, parts[0], folder) for value in values] if parts else values
    for part in parts:
        values = _resolved(values, part, folder)
    return values


def _one(value: Any, folder: Path) -> Any:
    if not isinstance(value, str) or value in _NO_FILE or Path(value).is_absolute():
        return value
    return str(folder / value)
