"""``[groups."NAME"] use = "package.module:ClassName"``: from the text to an object."""

from __future__ import annotations

from lapwing.loading import load_object
from lapwing.strategy.base import Strategy


def load_strategy(use: str, group: str) -> Strategy:
    """Imports the class and makes an object of it, without arguments; see ``lapwing.loading``.

    Args:
        use: ``package.module:ClassName``.
        group: The name of the group's table, for errors.
    Raises:
        ConfigError: no such module or class, it cannot be imported or made, or it is no ``Strategy``.
    """
    # Abstract is what the class named must be derived from; it itself is not.
    return load_object(use, Strategy, where=f'groups."{group}".use', what="the strategy")  # type: ignore[type-abstract]
