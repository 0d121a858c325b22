"""Which files a configuration makes the broker believe."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel

from lapwing import _core
from lapwing.file_rights.modules import module_files

if TYPE_CHECKING:
    from lapwing.config import Config


@dataclass(frozen=True, slots=True)
class Believed:
    """A file, the key that names it, and whether what is in it is to stay secret."""

    path: Path
    key: str
    is_secret: bool = False


def believed_files(config: Config, file: Path | None = None) -> Iterator[Believed]:
    """Every file that decides who may what here, as the node knows them, or that runs as code of the broker.

    Args:
        config: The whole configuration.
        file: Where it was read from, if from a file.
    """
    named: dict[str, list[Path]] = {}
    for key, path in _named(config, ""):
        named.setdefault(key, []).append(path)
    for path, key, is_secret in _core.believed_files(file, len(config.listeners), named):
        yield Believed(path, key, is_secret)
    uses = {
        "hooks.use": config.hooks.use,
        **{f'groups."{name}".use': group.use for name, group in config.groups.items()},
    }
    for key, use in uses.items():
        for path in module_files(use) if use is not None else ():
            yield Believed(path, key)


def _named(value: object, key: str) -> Iterator[tuple[str, Path]]:
    """All files that stand in a configuration, each with its key; those of a list have the list's."""
    if isinstance(value, Path):
        yield key, value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _named(getattr(value, name), f"{key}.{name}" if key else name)
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _named(each, key if isinstance(each, Path) else f"{key}.{number}")
