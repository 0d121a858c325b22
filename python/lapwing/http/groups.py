"""``/v1/groups`` and below: consumer groups as they are, and their settings, which change while the broker runs."""

from __future__ import annotations

import json
from functools import partial
from typing import Any, Protocol

import anyio
from starlette.requests import Request
from starlette.responses import Response

from lapwing.config.one_group import group_json, parse_group, written_group
from lapwing.errors import ConfigError
from lapwing.group_pages import GroupPages, every_group, group_page
from lapwing.http.body import json_object
from lapwing.http.caller import caller_of
from lapwing.http.of_node import of_node
from lapwing.http.query import check_names, number
from lapwing.http.tags import check_conditions, tag_of
from lapwing.http_listener.http_error import HttpError
from lapwing.json_answer import JsonAnswer

LIMIT_DEFAULT, LIMIT_MAX = 100, 10_000
_KNOWN_MAX = 100


class GroupsNode(GroupPages, Protocol):
    """What this room asks of the node."""

    def group_settings_json(self) -> str:
        """The tables in force: name or pattern -> the node's table."""

    def put_group(self, name: str, group_json: str) -> None:
        """Replaces a table, or adds one."""

    def remove_group(self, name: str) -> bool:
        """Takes a table away; false when there is none."""


class Groups:
    """Who may ``observe`` sees groups and their settings; to change them takes ``admin``: they decide for all.

    Args:
        node: Asked in a thread: its shards answer between two turns of their loops. What it answers is read and written
            there too, for clients choose how long the names of groups are.
        body_timeout_s: Time for a request's body.
    """

    def __init__(self, node: GroupsNode, *, body_timeout_s: float) -> None:
        self._node = node
        self._body_timeout_s = body_timeout_s
        # Between a condition and the change that it permits nothing else may change, over HTTP.
        self._changes = anyio.Lock()

    async def index(self, request: Request) -> Response:
        """``GET /v1/groups``: a page of the groups as they are, by name and filter; with the first, all tables."""
        caller_of(request.scope).need_to_observe()
        query = request.query_params
        check_names(query, ("limit", "after"))
        limit, after = number("limit", query.get("limit", str(LIMIT_DEFAULT)), 1, LIMIT_MAX), query.get("after")

        def answer() -> Response:
            tables = self._settings() if after is None else {}
            settings = {name: written_group(table) for name, table in tables.items()}
            return JsonAnswer({**group_page(self._node, after=after, limit=limit), "settings": settings})

        return await of_node(answer)

    async def one(self, request: Request) -> Response:
        """``GET``, ``PUT`` and ``DELETE /v1/groups/NAME``."""
        caller = caller_of(request.scope)
        if request.method in ("PUT", "DELETE"):
            caller.need_to_administer()
        else:
            caller.need_to_observe()
        name = request.path_params["name"]
        if request.method == "PUT":
            return await self._put(name, request)
        if request.method == "DELETE":
            return await self._remove(name, request)
        return await self._get(name)

    async def _get(self, name: str) -> Response:
        """The groups of that share name, one a filter, and the table under it; 404 when there is neither."""

        def answer() -> Response:
            named = list(every_group(self._node, name))
            settings = self._settings()
            if not named and name not in settings:
                raise self._unknown(name, settings)
            written = written_group(settings[name]) if name in settings else None
            return JsonAnswer({"name": name, "settings": written, "groups": named}, headers=tag_of(written))

        return await of_node(answer)

    async def _put(self, name: str, request: Request) -> Response:
        """Replaces the table; 200 with what is in force then, 201 where there was none, 412 unless conditions hold."""
        body = await json_object(request, timeout_s=self._body_timeout_s)
        try:
            # In a thread: what is wrong is told with what was meant, and that is searched for.
            group = await anyio.to_thread.run_sync(parse_group, name, body, "body")
        except ConfigError as error:
            raise _wrong(error) from error
        async with self._changes:
            before = await of_node(partial(self._written, name))
            check_conditions(request.headers, before)
            await of_node(partial(self._node.put_group, name, group_json(group)))
            settings = await of_node(partial(self._written, name))
        status = 201 if before is None else 200
        return JsonAnswer({"name": name, "settings": settings}, status_code=status, headers=tag_of(settings))

    async def _remove(self, name: str, request: Request) -> Response:
        """204, 404 when there is no table of that name, 412 unless a condition holds.

        Groups that it declared end when nobody is in them.
        """
        async with self._changes:
            check_conditions(request.headers, await of_node(partial(self._written, name)))
            if await of_node(partial(self._node.remove_group, name)):
                return Response(status_code=204)
        raise await of_node(partial(self._not_removed, name))

    def _settings(self) -> dict[str, dict[str, Any]]:
        settings: dict[str, dict[str, Any]] = json.loads(self._node.group_settings_json())
        return settings

    def _written(self, name: str) -> dict[str, object] | None:
        """The table of exactly that name, as one writes it; None: there is none."""
        table = self._settings().get(name)
        return None if table is None else written_group(table)

    def _not_removed(self, name: str) -> HttpError:
        """There is no table to take away; of a group that is there all the same it says why."""
        if next(iter(every_group(self._node, name)), None) is None:
            return self._unknown(name, self._settings())
        remedy = "it is not declared: it ends with its last member"
        return HttpError(404, "group_without_settings", f"group {name!r} has no settings of its own", remedy)

    def _unknown(self, name: str, settings: dict[str, Any]) -> HttpError:
        """Names some of those that there are."""
        first = group_page(self._node, after=None, limit=_KNOWN_MAX)["groups"]
        known = sorted({group["name"] for group in first} | set(settings))[:_KNOWN_MAX]
        remedy = f"known: {', '.join(known)}" if known else "PUT it, or add [groups.NAME] to the configuration"
        return HttpError(404, "group_unknown", f"no group {name!r}", remedy, groups=known)


def _wrong(error: ConfigError) -> HttpError:
    lines = error.lines()
    return HttpError(400, "group_settings", "; ".join(lines), "correct what is named", problems=lines)
