"""What a line gave to its verb: words by position, and options by name, read as what they should be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lapwing.errors import ConfigError

U32_MAX = 4_294_967_295
"""Largest value of MQTT's four-byte integers."""


@dataclass(frozen=True)
class Given:
    """Arguments and options of one line; ``options`` has a text for each time an option was given."""

    arguments: Sequence[str]
    options: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def argument(self, position: int) -> str | None:
        """The word at that position, if there is one."""
        return self.arguments[position] if position < len(self.arguments) else None

    def flag(self, name: str) -> bool:
        """Whether the option was given."""
        return name in self.options

    def text(self, name: str) -> str | None:
        """The option's value, if it was given."""
        return self.options[name][0] if name in self.options else None

    def integer(self, name: str, low: int, high: int) -> int | None:
        """The option's value as a number, if it was given.

        Raises:
            ConfigError: it is no whole number from ``low`` to ``high``.
        """
        text = self.text(name)
        return None if text is None else whole_number(name, text, low, high)

    def seconds(self, name: str) -> float | None:
        """The option's value as seconds, if it was given.

        Raises:
            ConfigError: it is no number, or negative.
        """
        text = self.text(name)
        if text is None:
            return None
        try:
            seconds = float(text)
        except ValueError:
            seconds = -1.0
        if not 0 <= seconds < float("inf"):
            raise ConfigError(f"{name} {text!r} is no number of seconds", remedy=f"write {name} 2.5")
        return seconds

    def pairs(self, name: str) -> tuple[tuple[str, str], ...]:
        """The option's values as pairs, in order.

        Raises:
            ConfigError: one has no ``=``.
        """
        return tuple(_pair(name, text) for text in self.options.get(name, ()))


def whole_number(name: str, text: str, low: int, high: int) -> int:
    """``text`` as a number.

    Raises:
        ConfigError: it is none, or not from ``low`` to ``high``.
    """
    # isdecimal too: int() takes " 1", "1_0" and "+1".
    if not (text.isdecimal() and text.isascii() and len(text) <= len(str(high)) and low <= int(text) <= high):
        raise ConfigError(f"{name} {text!r}", remedy=f"give a whole number from {low} to {high}")
    return int(text)


def _pair(name: str, text: str) -> tuple[str, str]:
    left, equals, right = text.partition("=")
    if not equals:
        raise ConfigError(f"{name} {text!r} is not NAME=VALUE", remedy=f"write {name} floor=3")
    return left, right
