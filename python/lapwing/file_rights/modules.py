"""Which files are run for ``package.module:ClassName``: the module, the packages around it, and what they import.

Nothing is run here: the text of a module is read for its imports, wherever they stand in it. What a module imports
by a name that it puts together is known only once it has been loaded: ``lapwing.loading`` says so.

What comes with Python or lies in its site-packages is looked at only where a setting names it: who may write there may
change this program itself. That goes for ``lapwing`` too, wherever it lies.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

from lapwing.file_rights.imports import imports_in
from lapwing.file_rights.program_folders import is_of_program
from lapwing.loading import brought_files


@dataclass(frozen=True, slots=True)
class _Module:
    """One that was found; ``files``: its own, before what is compiled of it; ``folders``: where modules in it lie."""

    name: str
    source: Path | None
    files: tuple[Path, ...]
    folders: tuple[str, ...]

    @property
    def is_of_program(self) -> bool:
        return all(is_of_program(Path(place)) for place in (self.files[:1] or self.folders))


def module_files(use: str) -> Iterator[Path]:
    """The files that are run for ``use``, compiled or not, and the folders of packages that have no file.

    Found as an import finds them, the working directory behind all else; and what an import has brought in this
    process already.
    """
    named = use.partition(":")[0]
    known: dict[str, _Module | None] = {}
    waiting = [named]
    while waiting:
        for name in _with_packages(waiting.pop()):
            if name not in known:
                known[name] = module = _found(name, known.get(name.rpartition(".")[0]))
                if module is not None and (not module.is_of_program or f"{named}.".startswith(f"{name}.")):
                    yield from module.files or map(Path, module.folders)
                if module is not None and module.source is not None and not module.is_of_program:
                    waiting += imports_in(module.source, name)
            module = known[name]
            if module is None or (module.is_of_program and not named.startswith(f"{name}.")):
                break  # its import says so, or it is a name in a module; and what is the program's has its own
    yield from (path for path in brought_files(named) if not is_of_program(path))


def _with_packages(name: str) -> Iterator[str]:
    """Of ``a.b.c``: ``a``, ``a.b`` and itself."""
    parts = name.split(".")
    return (".".join(parts[:count]) for count in range(1, len(parts) + 1))


def _found(name: str, package: _Module | None) -> _Module | None:
    spec = _spec(name) if package is None else PathFinder.find_spec(name.rpartition(".")[2], list(package.folders))
    if spec is None:
        return None
    # Of a package without a file this must be asked now: it would look at its parents later.
    folders = tuple(spec.submodule_search_locations or ())
    if not spec.has_location or spec.origin is None:
        return _Module(name, None, (), folders)
    # What is compiled there is run in the place of its source.
    files = (spec.origin,) if spec.cached is None else (spec.origin, spec.cached)
    source = Path(spec.origin) if spec.origin.endswith(".py") else None
    return _Module(name, source, tuple(map(Path, files)), folders)


def _spec(name: str) -> ModuleSpec | None:
    for finder in sys.meta_path:
        # Those of others may raise anything; the import will say so.
        with contextlib.suppress(Exception):
            if (spec := finder.find_spec(name, None)) is not None:
                return spec
    return PathFinder.find_spec(name, [os.getcwd()])
