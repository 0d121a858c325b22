"""Looks at every file that a configuration names: errors for what others may write, notices for what they may read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from lapwing import _core
from lapwing.errors import ConfigError, LapwingError
from lapwing.file_rights.of_config import believed_files, searched_places
from lapwing.file_rights.private_group import private_group

if TYPE_CHECKING:
    from lapwing.config import Config


def check_files(config: Config, uid: int, file: Path | None = None) -> list[str]:
    """What is to be told of the configuration's files, a line each. Files that are not there are left out.

    Args:
        config: The whole configuration.
        uid: The account that the broker is to run as.
        file: Where the configuration was read from, if from a file.

    Raises:
        ConfigError: one is no file; or others may write one of them, or a folder on its way, or the data folder, and
            ``broker.files`` is "strict"; names all.
    """
    check_kinds(config)
    files = [(found.path, found.key, found.is_secret) for found in believed_files(config, file)]
    urls = [listener.url for listener in config.listeners] or config.broker.listen
    files += _core.made_files(config.audit.file, urls)
    folder = config.broker.data if config.broker.durability == "disk" or config.streams else None
    written, told = _core.look_at_files(files, searched_places(config), folder, uid, private_group(uid))
    problems = _problems(written)
    if problems and config.broker.files == "strict":
        raise ConfigError("others may write files that the broker believes", problems=problems)
    return [*map(str, problems), *told]


def check_kinds(config: Config) -> None:
    """Whoever opened a pipe would wait for ever; devices have no end.

    Raises:
        ConfigError: something else lies where a file is named; names all. What is not there, and folders, are left to
            whoever reads them. The configuration itself may come from a pipe: it has been read.
    """
    strange = _core.strange_kinds([(found.path, found.key, found.is_secret) for found in believed_files(config)])
    if strange:
        raise ConfigError("something else lies where a file is named", problems=_problems(strange))


def _problems(found: Iterable[tuple[str, str, str]]) -> list[LapwingError]:
    return [LapwingError(what, where=where, remedy=remedy) for what, where, remedy in found]
