"""Which hooks somebody has written, and whether they can be called."""

from __future__ import annotations

import difflib
import inspect

from lapwing.errors import ConfigError
from lapwing.hooks.base import Hooks

NAMES = tuple(name for name in vars(Hooks) if name.startswith("on_"))
"""Every hook."""


def interests(hooks: Hooks) -> list[str]:
    """The names of the methods that ``hooks`` overrides.

    Raises:
        ConfigError: no ``Hooks``, a method that is no hook, or one that cannot be called.
    """
    kind = type(hooks)
    where = f"{kind.__module__}.{kind.__qualname__}"
    if not isinstance(hooks, Hooks):
        raise ConfigError("hooks must be an instance of lapwing.Hooks", where=where, remedy="derive its class from it")
    for name in dir(hooks):
        if name.startswith("on_") and name not in NAMES:
            near = difflib.get_close_matches(name, NAMES, n=1)
            remedy = f"did you mean {near[0]}?" if near else f"the hooks are {', '.join(NAMES)}"
            raise ConfigError(f"{name} is no hook", where=where, remedy=remedy)
    overridden = [name for name in NAMES if _is_overridden(hooks, name)]
    for name in overridden:
        method = getattr(hooks, name)
        if not callable(method) or inspect.iscoroutinefunction(method):
            raise ConfigError(f"{name} must be a plain function", where=where, remedy="write def, not async def")
    return overridden


def _is_overridden(hooks: Hooks, name: str) -> bool:
    method = getattr(hooks, name)
    return getattr(method, "__func__", method) is not getattr(Hooks, name)
