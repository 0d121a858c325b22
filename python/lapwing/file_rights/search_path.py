"""Folders in which Python looks before it finds the modules that a setting names: a module put there is run instead.

Judged is all of ``sys.path`` down to where those modules and what comes with Python were found: what is imported later,
by anybody in this process, is looked for in the same order. The program's own folders are left out, as its files are.
"""

from __future__ import annotations

import functools
import os
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

import lapwing
from lapwing.file_rights.program_folders import is_of_program


def searched_folders(files: Iterable[Path]) -> list[Path]:
    """Folders of ``sys.path`` in front of ``files`` and of Python's own, and those that ``files`` lie in; once each.

    Args:
        files: Of the modules that a setting names, and of what they import. None: nothing is looked for.
    """
    real = [Path(os.path.realpath(file)) for file in files]
    entries = {entry: Path(os.path.realpath(entry)) for entry in _entries()}
    if not real:
        return []
    last = max((place for place, at in enumerate(entries.values()) if is_of_program(at)), default=0)
    for file in real:
        found = [place for place, at in enumerate(entries.values()) if file.is_relative_to(at)]
        if found:
            last = max(last, found[-1])
        elif file.suffix != ".pyc":  # what is compiled may lie elsewhere
            last = len(entries)  # found by somebody who is asked behind them all
    return [Path(entry) for entry, at in list(entries.items())[: last + 1] if not _is_programs(at)]


def _entries() -> list[str]:
    """Absolute; the working directory is looked into last (``lapwing.loading``), unless it is there already."""
    here = os.getcwd()
    entries = [os.path.abspath(entry) for entry in sys.path if isinstance(entry, str)]
    return list(dict.fromkeys([*entries, here]))


def _is_programs(folder: Path) -> bool:
    """Who may write there could change the program itself."""
    return is_of_program(folder) or folder in _around_the_program()


@functools.cache
def _around_the_program() -> frozenset[Path]:
    """Where ``lapwing`` lies, where its command does, and Python's own modules if they came in an archive."""
    packed = Path(sys.base_prefix, sys.platlibdir, f"python{sys.version_info.major}{sys.version_info.minor}.zip")
    schemes = (sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user"))
    commands = [sysconfig.get_path("scripts", scheme) for scheme in schemes]
    around: list[Path] = [*(Path(place).parent for place in lapwing.__path__), *map(Path, commands), packed]
    return frozenset(Path(os.path.realpath(folder)) for folder in around)
