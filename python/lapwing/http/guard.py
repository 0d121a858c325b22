"""What stands before every route: bodies are refused where none is taken, answers are counted."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lapwing.http.counters import HttpCounters
from lapwing.http_listener.http_error import HttpError


class Guard:
    """ASGI middleware. Only the PUT of a group takes a body, with a limit of its own (``lapwing.http.body``)."""

    def __init__(self, app: ASGIApp, counters: HttpCounters, routes: Sequence[Route]) -> None:
        self._app = app
        self._counters = counters
        self._paths: dict[object, str] = {route.endpoint: route.path for route in routes}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        status = 0

        async def counted_send(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self._answer(scope, receive, counted_send)
        finally:
            # Only known paths become labels: a peer must not be able to make new time series.
            route = self._paths.get(scope.get("endpoint"), "unknown")
            self._counters.add("lapwing_http_requests_total", route=route, status=str(status))

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _takes_body(scope) or not _has_body(Headers(scope=scope)):
            await self._app(scope, receive, send)
            return
        refusal = HttpError(413, "body_not_expected", "this request has a body", "send it without one")
        await refusal.response()(scope, receive, send)


def _takes_body(scope: Scope) -> bool:
    return bool(scope["method"] == "PUT" and scope["path"].startswith("/v1/groups/"))


def _has_body(headers: Headers) -> bool:
    return "transfer-encoding" in headers or headers.get("content-length", "0") != "0"
