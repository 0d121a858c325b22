"""What is left of a configuration without its wrong values, so that what is wrong besides is told with them.

A value that was wrong or misspelt is in doubt, and what is left has a default in its place: nothing is told that could
come of that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from lapwing.config.layers import KeyPath, Layer
from lapwing.config.problems import has_value, key_path, meant_key, show_key
from lapwing.errors import LapwingError

_LOOKED_AT_ELSEWHERE = frozenset({"auth", "hooks", "http", "listeners"})
"""Tables that decide together whether a listener is open: one of them in doubt leaves nothing to say of that."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """Keys and tables whose values are not known.

    Attributes:
        words: Each as problems name it.
        above: The tables around them: what one of them lacks may be what was wrong.
    """

    words: frozenset[str] = frozenset()
    above: frozenset[str] = frozenset()

    @classmethod
    def of(cls, error: ValidationError, model: type[BaseModel]) -> Doubt:
        """What the values that ``error`` names leave in doubt."""
        details = error.errors(include_url=False)
        words = frozenset(word for detail in details for word in _words(detail, model))
        paths = [key_path(detail["loc"]) for detail in details]
        return cls(words, frozenset(show_key(path[:length]) for path in paths for length in range(1, len(path))))

    @classmethod
    def at(cls, paths: Sequence[KeyPath]) -> Doubt:
        """What values at these places leave in doubt, which were taken out."""
        elsewhere = {path[0] for path in paths if path[0] in _LOOKED_AT_ELSEWHERE}
        above = {show_key(path[:length]) for path in paths for length in range(1, len(path))}
        return cls(frozenset({show_key(path) for path in paths} | elsewhere), frozenset(above))

    def __or__(self, other: Doubt) -> Doubt:
        return Doubt(self.words | other.words, self.above | other.above)

    def clear(self, problems: Sequence[LapwingError]) -> list[LapwingError]:
        """Those that say nothing of what is in doubt."""
        if not self.words:
            return list(problems)
        named = re.compile("|".join(rf"(?<!\w){re.escape(word)}(?!\w)" for word in sorted(self.words)))
        return [
            problem
            for problem in problems
            if problem.what.partition(" = ")[0] not in self.above
            and not named.search(f"{problem.what} {problem.remedy}")
        ]

    @property
    def is_openness_known(self) -> bool:
        """Whether it can be said who may connect."""
        return self.words.isdisjoint(_LOOKED_AT_ELSEWHERE | {"listen"})


def _words(detail: ErrorDetails, model: type[BaseModel]) -> Iterator[str]:
    path = key_path(detail["loc"])
    if detail["type"] == "extra_forbidden":
        path = meant_key(path, model)
    yield from (name for name in path[:1] if name in _LOOKED_AT_ELSEWHERE)
    while path and path[-1].isdigit():
        path = path[:-1]
    if path:
        yield show_key(path)
        if len(path) > 1 and "_" in path[-1]:
            yield path[-1]  # some are named without their table
        if path in (("broker", "listen"), ("listeners",)):
            yield from ("listen", "broker.listen")  # whose default counts where there are no listeners


def without_wrong(error: ValidationError, layers: Sequence[Layer]) -> tuple[Layer, ...]:
    """``layers`` without the values that ``error`` names; of a list all, so that its other items keep their numbers."""
    left = tuple(replace(layer, values=deepcopy(layer.values)) for layer in layers)
    for detail in error.errors(include_url=False):
        path = key_path(detail["loc"])
        path = path[:-1] if detail["type"] == "missing" else path
        # A layer may have the table and not the key; and pydantic has marks of its own at the end of a path.
        while path and not any(has_value(layer.values, path) for layer in left):
            path = path[:-1]
        for layer in left:
            if path and has_value(layer.values, path):
                _cut(layer.values, path)
    return left


def _cut(values: dict[str, Any], path: KeyPath) -> None:
    """Takes out what lies at ``path``, with the list that it is an item of."""
    at: Any = values
    table, key = values, path[0]
    for name in path:
        if isinstance(at, list):
            at = at[int(name)]
        else:
            table, key = at, name
            at = at[name]
    del table[key]
