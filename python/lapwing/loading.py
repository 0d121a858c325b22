"""``use = "package.module:ClassName"``: from the text to an object, for whatever a user may put there."""

from __future__ import annotations

import importlib
import re
import sys
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
