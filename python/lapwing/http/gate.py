"""What stands before every route but the open ones: nobody gets further whose identity is not known.

Nor whose connection came to one of the places that are kept for the open ones.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from lapwing.http.caller import put_caller
from lapwing.http.identify import Identifier
from lapwing.http_listener.http_error import HttpError
from lapwing.http_listener.kept_places import OPEN_PATHS, check_place


class Gate:
    """ASGI middleware; a route that is forgotten in a list of rights still needs an identity."""

    def __init__(self, app: ASGIApp, identifier: Identifier) -> None:
        self._app = app
        self._identifier = identifier

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        if scope["type"] == "http" and scope["path"] not in OPEN_PATHS:
            try:
                check_place(scope)
                put_caller(scope, await self._identifier.caller(scope))
            except HttpError as error:
                await error.response()(scope, receive, send)
                return
        await self._app(scope, receive, send)
