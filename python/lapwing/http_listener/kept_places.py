"""Paths that are answered where all else is refused for want of a place: whether a process lives, and is ready."""

from __future__ import annotations

from starlette.types import Scope

from lapwing.http_listener.http_error import HttpError

OPEN_PATHS = frozenset({"/healthz", "/readyz"})
"""Each tells one word, and whoever starts and watches processes asks them without credentials."""
_REFUSAL = "lapwing.refusal"


def put_refusal(scope: Scope, refusal: HttpError) -> None:
    """Notes that there is no room for this request, unless it is for an open path."""
    scope[_REFUSAL] = refusal


def check_place(scope: Scope) -> None:
    """Raises the `HttpError` that was noted, if there was one."""
    refusal: HttpError | None = scope.get(_REFUSAL)
    if refusal is not None:
        raise refusal
