"""A line as words: quoted as in a POSIX shell, without its expansions."""

from __future__ import annotations

import shlex

from lapwing.errors import ConfigError

_SPECIAL = frozenset("\"'\\")
_REMEDIES = {"No closing quotation": "close the quote", "No escaped character": "write \\\\ for a backslash"}


def split(line: str) -> list[str]:
    """The words of ``line``; none for an empty one and for a comment, which begins with ``#``.

    A ``#`` anywhere else is itself: filters end in one.

    Raises:
        ConfigError: a quote is not closed, or a backslash ends the line.
    """
    if line.lstrip().startswith("#"):
        return []
    try:
        return shlex.split(line)
    except ValueError as error:
        what = str(error)
        remedy = _REMEDIES.get(what, "look at its quotes")
        raise ConfigError(what[0].lower() + what[1:], where=line.strip(), remedy=remedy) from error


def quoted(word: str) -> str:
    """``word`` as it must be typed to be one word."""
    plain = word and not any(character.isspace() or character in _SPECIAL for character in word)
    return word if plain else shlex.quote(word)


def is_plain(raw: str) -> bool:
    """True when what is typed has no quotes, so that it is the word itself."""
    return _SPECIAL.isdisjoint(raw)
