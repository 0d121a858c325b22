"""What is written into the audit trail of requests: changes, whatever became of them, and who was refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lapwing.http.caller import known_caller
from lapwing.http.identify import claimed_name
from lapwing.http_listener.kept_places import OPEN_PATHS

_RESULT = "lapwing.result"
_READS = frozenset({"GET", "HEAD", "OPTIONS"})
_REFUSED = frozenset({401, 403, 421, 429})
_UNSAID = 503
"""Where it comes before anybody is known: too many wait, or nobody can say."""

Write = Callable[[str, str, str | None], None]
"""``Node.audit``: an event's name, its fields in JSON, and the kind of refusal that gives it its rate."""


class Audited:
    """ASGI middleware, around all that refuses a request: who sends it, and by which name it calls us.

    The line is handed over before the answer leaves. The query of a path is not written: a secret may be in it.
    """

    def __init__(self, app: ASGIApp, write: Write) -> None:
        self._app = app
        self._write = write

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""

        async def noting_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._note(scope, message["status"])
            await send(message)

        await self._app(scope, receive, noting_send)

    def _note(self, scope: Scope, status: int) -> None:
        is_unknown = known_caller(scope) is None and scope["path"] not in OPEN_PATHS
        is_refused = status in _REFUSED or (status == _UNSAID and is_unknown)
        if scope["method"] in _READS and not is_refused:
            return
        caller = known_caller(scope)
        fields: dict[str, Any] = {
            "over": "http",
            "method": scope["method"],
            "path": scope["path"],
            "status": status,
            "username": None if caller is None else caller.name,
            "address": _address(scope),
        }
        if is_refused:
            fields["claimed_username"] = claimed_name(Headers(scope=scope).get("authorization", ""))
            self._write("http_refused", json.dumps(fields), "http")
            return
        fields["result"] = scope.get(_RESULT)
        # What came to nothing may come as often as anybody likes.
        self._write("change", json.dumps(fields), None if 200 <= status < 300 else "http")


def put_result(scope: Scope, **result: object) -> None:
    """Notes what became of a change, beside its status."""
    scope[_RESULT] = result


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return f"{client[0]}:{client[1]}" if client else ""
