"""``/v1/sessions`` and ``/v1/queues``: clients' sessions and what waits for them; both are ended by order here."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, Protocol

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from lapwing.http.audited import put_result
from lapwing.http.caller import caller_of
from lapwing.http.of_node import of_node
from lapwing.http.query import bad_parameter, check_names, choice, number
from lapwing.http_listener.http_error import HttpError
from lapwing.json_answer import JsonAnswer

_Document = dict[str, Any]

LIMIT_DEFAULT, LIMIT_MAX = 100, 10_000
HEAD_DEFAULT, HEAD_MAX = 10, 100
_LIST_PARAMETERS = ("prefix", "state", "longest", "limit", "after")
_CLIENT_PARAMETERS = tuple(name for name in _LIST_PARAMETERS if name != "state")
"""Of clients, all of whom are connected."""
_ONE_PARAMETERS = ("head",)
_STATES = ("connected", "away")
_MEASURES = ("messages", "bytes")
_TIMES = ("away_since_ms", "connected_since_ms")
_CLIENT_COLUMNS = (
    "client_id", "user", "address", "listener", "version", "connected_since", "bytes_in", "bytes_out",
    "subscriptions", "inflight_out", "inflight_in", "waiting_messages", "waiting_bytes", "shard",
)  # fmt: skip
_QUEUE_COLUMNS = (
    "client_id", "is_connected", "away_since", "waiting_messages", "waiting_bytes", "inflight_out", "lost_messages",
)  # fmt: skip


class SessionsNode(Protocol):
    """What this room asks of the node."""

    def sessions(
        self,
        prefix: str,
        after: str | None,
        connected: bool | None,
        waiting: bool,
        longest: str | None,
        limit: int,
    ) -> tuple[list[str], str]:
        """A page of sessions, each as JSON, and the rest of the page."""

    def session(self, client_id: str, queued_max: int) -> tuple[str, list[str], list[str]] | None:
        """One session, what it subscribes to, and what waits, each as JSON."""

    def end_session(self, client_id: str) -> bool:
        """Ends a session and its connection; false when there is none."""

    def kick_client(self, client_id: str) -> bool:
        """Ends a connection and leaves its session; false when there is none."""

    def empty_queue(self, client_id: str) -> tuple[int, int] | None:
        """Drops what waits: messages and bytes; None when there is no such session."""


class Sessions:
    """Who may ``observe`` sees; to change something takes ``admin``.

    Args:
        node: Asked in a thread: its shards answer in shares, beside their clients' work. What it answers is read and
            written there too, for clients choose how long their names are.
    """

    def __init__(self, node: SessionsNode) -> None:
        self._node = node

    async def index(self, request: Request) -> Response:
        """``GET /v1/sessions``: a page, by client id, or those with the longest queues."""
        caller_of(request.scope).need_to_observe()
        return await self._page(request.query_params, lambda page: page, _LIST_PARAMETERS)

    async def one(self, request: Request) -> Response:
        """``GET`` and ``DELETE /v1/sessions/CLIENT``: what it subscribes to, and the head of its queue; or its end."""
        client_id = request.path_params["client"]
        if request.method != "DELETE":
            caller_of(request.scope).need_to_observe()
            return await self._session(client_id, request.query_params, lambda session: session)
        caller_of(request.scope).need_to_administer()
        if await of_node(partial(self._node.end_session, client_id)):
            return Response(status_code=204)
        raise _unknown(client_id)

    async def clients(self, request: Request) -> Response:
        """``GET /v1/clients``: who is connected, page by page: since when, by which listener, with what under way."""
        caller_of(request.scope).need_to_observe()

        def clients(page: _Document) -> _Document:
            return {"clients": [_client_of(session) for session in page.pop("sessions")], **page}

        return await self._page(request.query_params, clients, _CLIENT_PARAMETERS, state="connected")

    async def client(self, request: Request) -> Response:
        """``GET`` and ``DELETE /v1/clients/CLIENT``: one connection; or its end, which leaves the session."""
        client_id = request.path_params["client"]
        if request.method != "DELETE":
            caller_of(request.scope).need_to_observe()
            return await self._session(client_id, request.query_params, _connected)
        caller_of(request.scope).need_to_administer()
        if await of_node(partial(self._node.kick_client, client_id)):
            return Response(status_code=204)
        raise _not_connected(client_id)

    async def queues(self, request: Request) -> Response:
        """``GET /v1/queues``: as ``/v1/sessions``, where something waits, or was under way to one who has gone."""
        caller_of(request.scope).need_to_observe()

        def queues(page: _Document) -> _Document:
            return {"queues": [_queue_of(session) for session in page.pop("sessions")], **page}

        return await self._page(request.query_params, queues, _LIST_PARAMETERS, waiting=True)

    async def queue(self, request: Request) -> Response:
        """``GET`` and ``DELETE /v1/queues/CLIENT``: what has waited longest; or none of it any more."""
        client_id = request.path_params["client"]
        if request.method != "DELETE":
            caller_of(request.scope).need_to_observe()

            def queue(session: _Document) -> _Document:
                return {**_queue_of(session), "queue": session["queue"]}

            return await self._session(client_id, request.query_params, queue)
        caller_of(request.scope).need_to_administer()
        dropped = await of_node(partial(self._node.empty_queue, client_id))
        if dropped is None:
            raise _unknown(client_id)
        put_result(request.scope, messages=dropped[0], bytes=dropped[1])
        return JsonAnswer({"client_id": client_id, "messages": dropped[0], "bytes": dropped[1]})

    async def _page(
        self,
        query: QueryParams,
        shown: Callable[[_Document], _Document],
        known: Sequence[str],
        *,
        waiting: bool = False,
        state: str | None = None,
    ) -> Response:
        check_names(query, known)
        longest, after = query.get("longest"), query.get("after")
        if longest is not None:
            choice("longest", longest, _MEASURES)
            if after is not None:
                raise bad_parameter("after", after, "pages are by client id: leave out longest, or after")
        state = state or query.get("state")
        connected = None if state is None else choice("state", state, _STATES) == "connected"
        limit = number("limit", query.get("limit", str(LIMIT_DEFAULT)), 1, LIMIT_MAX)
        prefix = query.get("prefix", "")
        ask = partial(self._node.sessions, prefix, after, connected, waiting, longest, limit)

        def answer() -> Response:
            sessions, rest = ask()
            # One by one: the parser holds the interpreter's lock as long as it is called.
            page: _Document = {
                "sessions": [_with_time(json.loads(session)) for session in sessions],
                **json.loads(rest),
            }
            return JsonAnswer(shown(page))

        return await of_node(answer)

    async def _session(self, client_id: str, query: QueryParams, shown: Callable[[_Document], _Document]) -> Response:
        check_names(query, _ONE_PARAMETERS)
        head = number("head", query.get("head", str(HEAD_DEFAULT)), 0, HEAD_MAX)

        def answer() -> Response:
            found = self._node.session(client_id, head)
            if found is None:
                raise _unknown(client_id)
            session, *lists = found
            subscribed, queue = ([json.loads(item) for item in items] for items in lists)
            return JsonAnswer(shown({**_with_time(json.loads(session)), "subscribed": subscribed, "queue": queue}))

        return await of_node(answer)


def _with_time(session: dict[str, Any]) -> dict[str, Any]:
    """With times as RFC 3339 has them, in the place of the node's milliseconds."""
    return {
        name.removesuffix("_ms") if name in _TIMES else name: _rfc3339(value) if name in _TIMES else value
        for name, value in session.items()
    }


def _rfc3339(at_ms: int | None) -> str | None:
    if at_ms is None:
        return None
    return datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _connected(session: _Document) -> _Document:
    if not session["is_connected"]:
        raise _not_connected(session["client_id"])
    return _client_of(session)


def _client_of(session: dict[str, Any]) -> dict[str, Any]:
    return {name: session[name] for name in _CLIENT_COLUMNS}


def _not_connected(client_id: str) -> HttpError:
    remedy = "GET /v1/clients names those who are; a client id is percent-encoded in a path"
    return HttpError(404, "client_unknown", f"no client {client_id!r} is connected", remedy)


def _queue_of(session: dict[str, Any]) -> dict[str, Any]:
    return {name: session[name] for name in _QUEUE_COLUMNS}


def _unknown(client_id: str) -> HttpError:
    remedy = "GET /v1/sessions names those there are; a client id is percent-encoded in a path"
    return HttpError(404, "session_unknown", f"no session of client {client_id!r}", remedy)
