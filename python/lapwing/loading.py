"""``use = "package.module:ClassName"``: from the text to an object, for whatever a user may put there."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from lapwing.errors import ConfigError

Base = TypeVar("Base")

_USE = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


def parse_use(text: str) -> str | None:
    """``package.module:ClassName``, not imported yet; None for "off".

    Raises:
        ValueError: written otherwise.
    """
    if text == "off":
        return None
    if not _USE.fullmatch(text):
        raise ValueError('must name a module and a class in it, as in "package.module:ClassName"')
    return text


_BROUGHT: dict[str, set[str]] = {}
"""By the module that a setting names, which modules came with it when it was first loaded in this process."""


def brought_files(module_name: str) -> Iterator[Path]:
    """The files of all modules that came with ``module_name``, compiled or not; none before it was loaded."""
    for name in sorted(_BROUGHT.get(module_name, ())):
        spec = getattr(sys.modules.get(name), "__spec__", None)
        found = (getattr(sys.modules.get(name), "__file__", None), getattr(spec, "cached", None))
        yield from (Path(place) for place in found if place is not None)


def load_object(use: str, base: type[Base], *, where: str, what: str) -> Base:
    """Imports the class and makes an object of it, without arguments.

    A module in the working directory is found too, as when Python runs a script there.

    Args:
        use: As ``parse_use`` takes it.
        base: What the class must be derived from; a public name of ``lapwing``.
        where: The key, for errors.
        what: What it is, for errors: "the hooks".
    Raises:
        ConfigError: no such module or class, it cannot be imported or made, or it is not derived from ``base``.
    """
    module_name, _, class_name = use.partition(":")
    before = frozenset(sys.modules)
    try:
        return _loaded(use, module_name, class_name, base, where, what)
    finally:
        _BROUGHT.setdefault(module_name, set()).update(set(sys.modules) - before)


def _loaded(use: str, module_name: str, class_name: str, base: type[Base], where: str, what: str) -> Base:
    where = f"{where} = {use!r}"
    folder = str(Path.cwd())
    if folder not in sys.path and "" not in sys.path:
        sys.path.append(folder)
    try:
        found: object = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and (module_name == error.name or module_name.startswith(f"{error.name}.")):
            raise ConfigError(
                f"there is no module {error.name}", where=where, remedy=f"install it, or start in its folder ({folder})"
            ) from error
        raise _broken(where, f"{what} cannot be imported", error) from error
    except (Exception, SystemExit) as error:  # a script's own end is not the broker's
        raise _broken(where, f"{what} cannot be imported", error) from error
    for name in class_name.split("."):
        found = getattr(found, name, None)
    public = f"lapwing.{base.__name__}"
    if not (isinstance(found, type) and issubclass(found, base)):
        said = f"{module_name} has no class {class_name}" if found is None else f"{class_name} is no {public}"
        raise ConfigError(said, where=where, remedy=f"name a class that is derived from {public}")
    try:
        return found()
    except (Exception, SystemExit) as error:
        raise _broken(where, f"{what} cannot be made", error) from error


def _broken(where: str, what: str, error: BaseException) -> ConfigError:
    return ConfigError(f"{what}: {type(error).__name__}: {error}", where=where, remedy="mend this first")
