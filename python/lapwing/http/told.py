"""Has the log told of requests that are refused."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lapwing.http.caller import known_caller
from lapwing.http.refusals import REFUSED, Refusals
from lapwing.http_listener.kept_places import OPEN_PATHS


class Told:
    """ASGI middleware, around what tells who sends a request."""

    def __init__(self, app: ASGIApp, refusals: Refusals) -> None:
        self._app = app
        self._refusals = refusals

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""

        async def noting_send(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] in REFUSED:
                self._note(scope, message["status"])
            await send(message)

        await self._app(scope, receive, noting_send)

    def _note(self, scope: Scope, status: int) -> None:
        if status == 503 and scope["path"] in OPEN_PATHS:
            return  # nobody was refused: the broker does not serve, and says why
        caller = known_caller(scope)
        # Of credentials that do not hold the node tells; a 503 to somebody who is known says what is busy.
        if (status == 401 and "authorization" in Headers(scope=scope)) or (status == 503 and caller is not None):
            return
        address = scope["client"][0] if scope.get("client") else ""
        name = None if caller is None else caller.name
        self._refusals.request(status, scope["method"], scope["path"], address, name)
