"""What the log has of those who are refused over HTTP: who, what for, and why; a line a minute of each kind at most."""

from __future__ import annotations

import logging
import re

from lapwing.same_origin.seldom import Seldom
from lapwing.text import one_line

_PATH_CHARACTERS_MAX = 64
_METHOD_CHARACTERS_MAX = 16
"""No method that is answered has more; what is no method may have 64 KiB."""
_LOOKED_AT_MAX = 256
"""Of a path so much is looked through for tokens, which takes the square of its length."""
_TOKEN = re.compile(r"(lapwing_)[\w-]{16,}|\bey[\w-]+\.[\w-]+\.[\w-]*", re.ASCII)
_WHY = {
    401: "it shows no credentials",
    403: "no rule permits it",
    408: "its body was not whole in time",
    413: "its body is too large, or none is taken",
    429: "too many wrong passwords",
    503: "too many ask, or nobody can say who it is",
}
REFUSED = frozenset(_WHY)
"""Statuses of refusals."""
_log = logging.getLogger(__name__)


class Refusals:
    """Those of one listener; used by the event loop's thread only."""

    def __init__(self) -> None:
        self._seldom = Seldom(_log)

    def connection(self, address: str, why: str) -> None:
        """A connection was ended, most before they had a request. ``why`` is its kind, too: one of a few."""
        self._seldom.tell(why, f"HTTP ends a connection of {address or 'somebody'}: {why}")

    def accepting(self, error: OSError) -> None:
        """A connection could not be accepted."""
        what = error.strerror or str(error)
        self._seldom.tell(
            "accept", f"HTTP cannot accept a connection: {what}; those that wait are accepted when it can"
        )

    def request(self, status: int, method: str, path: str, address: str, name: str | None) -> None:
        """A request was refused, of ``name`` if it is known who sent it."""
        who = f"{address or 'somebody'}{'' if name is None else f' ({one_line(name)})'}"
        what = f"{one_line(method[:_METHOD_CHARACTERS_MAX])} {one_line(_shown(path))}"
        self._seldom.tell(str(status), f"HTTP answers {status} to {who} for {what}: {_WHY[status]}")


def _shown(path: str) -> str:
    """Its beginning. Who puts a token into a path has put it there by mistake, and it is as good as a password."""
    if len(path) > _LOOKED_AT_MAX:
        path = f"{path[:_LOOKED_AT_MAX]}.x."  # what was cut off may be the rest of a token
    return _TOKEN.sub(r"\1***", path)[:_PATH_CHARACTERS_MAX]
