"""``[hooks] use = "package.module:ClassName"``: from the text to an object."""

from __future__ import annotations

from lapwing.hooks.base import Hooks
from lapwing.loading import load_object, parse_use

__all__ = ["load_hooks", "parse_use"]


def load_hooks(use: str) -> Hooks:
    """Imports the class and makes an object of it, without arguments; see ``lapwing.loading``.

    Raises:
        ConfigError: no such module or class, it cannot be imported or made, or it is no ``Hooks``.
    """
    return load_object(use, Hooks, where="hooks.use", what="the hooks")
