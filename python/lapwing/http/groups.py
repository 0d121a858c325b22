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
from lapwing.http.body import json_object
from lapwing.http.caller import caller_of
from lapwing.http.errors import HttpError
from lapwing.http.of_node import of_node
from lapwing.http.tags import check_conditions, tag_of
from lapwing.json_answer import JsonAnswer


class GroupsNode(Protocol):
    """What this room asks of the node."""

    def groups_json(self) -> str:
        """Every group, as ``{"groups": [...]}``."""

    def group_settings_json(self) -> str:
        """The tables in force: name or pattern -> the node's table."""

    def put_group(self, name: str, group_json: str) -> None:
        """Replaces a table, or adds one."""

    def remove_group(self, name: str) -> bool:
        """Takes a table away; false when there is none."""


class Groups:
    """Who may ``observe`` sees groups and their settings; to change them takes ``admin``: they decide for all.

    Args:
        node: Asked in a thread: its shards answer between two turns of their loops.
        body_timeout_s: Time for a request's body.
    """

    def __init__(self, node: GroupsNode, *, body_timeout_s: float) -> None:
        self._node = node
        self._body_timeout_s = body_timeout_s
        # Between a condition and the change that it permits nothing else may change, over HTTP.
        self._changes = anyio.Lock()

    async def index(self, request: Request) -> Response:
        """``GET /v1/groups``: every group as it is, and every table in force."""
        caller_of(request.scope).need_to_observe()
        settings = {name: written_group(table) for name, table in (await self._settings()).items()}
        return JsonAnswer({"groups": await self._groups(), "settings": settings})

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
        groups = [group for group in await self._groups() if group["name"] == name]
        settings = await self._settings()
        if not groups and name not in settings:
            raise await self._unknown(name, settings)
        written = written_group(settings[name]) if name in settings else None
        return JsonAnswer({"name": name, "settings": written, "groups": groups}, headers=tag_of(written))

    async def _put(self, name: str, request: Request) -> Response:
        """Replaces the table; 200 with what is in force then, 201 where there was none, 412 unless conditions hold."""
        body = await json_object(request, timeout_s=self._body_timeout_s)
        try:
            # In a thread: what is wrong is told with what was meant, and that is searched for.
            group = await anyio.to_thread.run_sync(parse_group, name, body, "body")
        except ConfigError as error:
            raise _wrong(error) from error
        async with self._changes:
            before = await self._written(name)
            check_conditions(request.headers, before)
            await of_node(partial(self._node.put_group, name, group_json(group)))
            settings = await self._written(name)
        status = 201 if before is None else 200
        return JsonAnswer({"name": name, "settings": settings}, status_code=status, headers=tag_of(settings))

    async def _remove(self, name: str, request: Request) -> Response:
        """204, 404 when there is no table of that name, 412 unless a condition holds. Groups that it declared end."""
        async with self._changes:
            check_conditions(request.headers, await self._written(name))
            if await of_node(partial(self._node.remove_group, name)):
                return Response(status_code=204)
        raise await self._unknown(name, await self._settings())

    async def _groups(self) -> list[dict[str, Any]]:
        groups: list[dict[str, Any]] = json.loads(await of_node(self._node.groups_json))["groups"]
        return groups

    async def _settings(self) -> dict[str, dict[str, Any]]:
        settings: dict[str, dict[str, Any]] = json.loads(await of_node(self._node.group_settings_json))
        return settings

    async def _written(self, name: str) -> dict[str, object] | None:
        """The table of exactly that name, as one writes it; None: there is none."""
        table = (await self._settings()).get(name)
        return None if table is None else written_group(table)

    async def _unknown(self, name: str, settings: dict[str, Any]) -> HttpError:
        known = sorted({group["name"] for group in await self._groups()} | set(settings))[:_KNOWN_MAX]
        remedy = f"known: {', '.join(known)}" if known else "PUT it, or add [groups.NAME] to the configuration"
        return HttpError(404, "group_unknown", f"no group {name!r}", remedy, groups=known)


_KNOWN_MAX = 100


def _wrong(error: ConfigError) -> HttpError:
    lines = error.lines()
    return HttpError(400, "group_settings", "; ".join(lines), "correct what is named", problems=lines)
