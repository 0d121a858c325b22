"""What stands before every route but the open ones: nobody gets further whose identity is not known."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from lapwing.http.caller import put_caller
from lapwing.http.errors import HttpError
from lapwing.http.identify import Identifier

OPEN_PATHS = frozenset({"/healthz", "/readyz"})
"""Each tells one word, and whoever starts and watches processes asks them without credentials."""


class Gate:
    """ASGI middleware; a route that is forgotten in a list of rights still needs an identity."""

    def __init__(self, app: ASGIApp, identifier: Identifier) -> None:
        self._app = app
        self._identifier = identifier

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        if scope["type"] == "http" and scope["path"] not in OPEN_PATHS:
            try:
                put_caller(scope, await self._identifier.caller(scope))
            except HttpError as error:
                await error.response()(scope, receive, send)
                return
        await self._app(scope, receive, send)
