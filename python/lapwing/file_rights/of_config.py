"""Which files a configuration makes the broker believe."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel

from lapwing import _core
from lapwing.file_rights.modules import module_files
from lapwing.file_rights.search_path import searched_folders

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
    for key, use in _uses(config):
        for path in module_files(use):
            yield Believed(path, key)


def searched_places(config: Config) -> list[tuple[Path, str, bool]]:
    """Folders in which Python looks for what a configuration names, with the first key that does; none is a secret."""
    found: dict[Path, str] = {}
    for key, use in _uses(config):
        for folder in searched_folders(module_files(use)):
            found.setdefault(folder, key)
    return [(folder, key, False) for folder, key in found.items()]


def _uses(config: Config) -> Iterator[tuple[str, str]]:
    """Keys that name a class, and what they name."""
    uses = {
        "hooks.use": config.hooks.use,
        **{f'groups."{name}".use': group.use for name, group in config.groups.items()},
    }
    yield from ((key, use) for key, use in uses.items() if use is not None)


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
