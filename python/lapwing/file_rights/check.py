"""Looks at every file that a configuration names: errors for what others may write, notices for what they may read."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lapwing.errors import ConfigError, LapwingError
from lapwing.file_rights import data_folder
from lapwing.file_rights.look import facts_behind, facts_of, trusted_by, ways_to
from lapwing.file_rights.of_config import Believed, believed_files
from lapwing.file_rights.verdict import Trusted, is_read_by_all, kind_of, remedy, strange_writer

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
    trusted, files = trusted_by(uid), list(believed_files(config, file))
    problems = list(_written_by_others(files, trusted))
    if (problem := data_folder.written_by_others(config, trusted)) is not None:
        problems.append(problem)
    if problems and config.broker.files == "strict":
        raise ConfigError("others may write files that the broker believes", problems=problems)
    seen = data_folder.seen_by_others(config)
    return [str(problem) for problem in problems] + list(_read_by_others(files)) + ([seen] if seen else [])


def check_kinds(config: Config) -> None:
    """Whoever opened a pipe would wait for ever; devices have no end.

    Raises:
        ConfigError: something else lies where a file is named; names all. What is not there, and folders, are left to
            whoever reads them. The configuration itself may come from a pipe: it has been read.
    """
    problems = [
        LapwingError(f"{file.key} is {kind}", where=str(file.path), remedy="name a file: it is read again at a reload")
        for file in believed_files(config)
        if (kind := kind_at(file.path))
    ]
    if problems:
        raise ConfigError("something else lies where a file is named", problems=problems)


def kind_at(path: Path) -> str:
    """What lies there, in words, where it is neither a file nor a folder; empty: one of these, or nothing."""
    facts = facts_behind(path)
    return "" if facts is None else kind_of(facts)


def _written_by_others(files: list[Believed], trusted: Trusted) -> Iterator[LapwingError]:
    """One for each file, folder and link that others may write, whatever number of keys lead there."""
    seen: set[Path] = set()
    for file in files:
        for path in (step for step in ways_to(file.path) if step not in seen):
            seen.add(path)
            facts = facts_of(path)
            if facts is not None and (who := strange_writer(facts, trusted)):
                what = f"{path} decides what this broker does, and {who}"
                place, mended = f"{file.key} = {str(file.path)!r}", remedy(facts, trusted, str(path))
                yield LapwingError(what, where=place, remedy=f'{mended}, or allow it with broker.files = "warn"')


def _read_by_others(files: list[Believed]) -> Iterator[str]:
    for path, key in {file.path: file.key for file in files if file.is_secret}.items():
        facts = facts_behind(path)
        if facts is not None and is_read_by_all(facts):
            mended = f"chmod o-r {shlex.quote(str(path))}"
            yield f"{path} ({key}) holds secrets, and every user of this machine may read it: {mended}"
