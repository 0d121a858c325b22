"""``/v1/cluster``: where this node of a cluster stands, and who else belongs to it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import Response

from lapwing.http.caller import caller_of
from lapwing.http.of_node import of_node
from lapwing.http.query import check_names
from lapwing.http_listener.http_error import HttpError
from lapwing.json_answer import JsonAnswer


def _alone() -> HttpError:
    what = "this broker is no member of a cluster"
    return HttpError(404, "no_cluster", what, "see docs/cluster.md: [cluster], and lapwing cluster init")


class ClusterNode(Protocol):
    """What this room asks of the node."""

    def cluster_json(self) -> str | None:
        """Where it stands; None: it is a node on its own."""

    def step_down(self, to: int | None = None) -> bool:
        """Lets another node serve, that one by its number if one is named; False: it is a node on its own."""

    def make_token(self) -> str | None:
        """Lets one node join; None: it is a node on its own."""

    def remove_member(self, node: int) -> bool:
        """Takes a node out, by its number; False: it is a node on its own."""


class Cluster:
    """Who may ``observe`` sees it; to step down takes ``admin``. It answers at a node that stands by, too."""

    def __init__(self, node: ClusterNode) -> None:
        self._node = node

    async def index(self, request: Request) -> Response:
        """``GET /v1/cluster``: this node's role and term, and every node as this one sees it."""
        caller_of(request.scope).need_to_observe()
        check_names(request.query_params, ())
        return JsonAnswer(await self._status())

    async def step_down(self, request: Request) -> Response:
        """``POST /v1/cluster/step-down?to=NODE``: another node is to serve; ``GET /v1/cluster`` says when it does.

        ``to``: that one, by name or number; without it whichever is furthest.
        """
        caller_of(request.scope).need_to_administer()
        check_names(request.query_params, ("to",))
        status = await self._status()
        if status["role"] == "standby":
            raise HttpError(409, "standby", "this node does not serve", "ask the one that does: lapwing cluster status")
        named = request.query_params.get("to")
        to = None if named is None else _number_of(status, named)
        await of_node(partial(self._node.step_down, to))
        return JsonAnswer({"asked": True})

    async def token(self, request: Request) -> Response:
        """``POST /v1/cluster/tokens``: a token by which one node joins within an hour. It is as good as a password."""
        caller_of(request.scope).need_to_administer()
        check_names(request.query_params, ())
        token = await of_node(self._node.make_token)
        if token is None:
            raise _alone()
        return JsonAnswer({"token": token}, headers={"Cache-Control": "no-store"})

    async def remove(self, request: Request) -> Response:
        """``DELETE /v1/cluster/nodes/NODE``: a node, by name or number, belongs to the cluster no more, for ever."""
        caller_of(request.scope).need_to_administer()
        check_names(request.query_params, ())
        node = _number_of(await self._status(), request.path_params["node"])
        await of_node(partial(self._node.remove_member, node))
        return JsonAnswer({"removed": node})

    async def _status(self) -> dict[str, Any]:
        """Where this node stands, if it is a member.

        Raises:
            HttpError: 404, it is a node on its own.
        """
        text = await of_node(self._node.cluster_json)
        if text is None:
            raise _alone()
        status: dict[str, Any] = json.loads(text)
        return status


def _number_of(status: Mapping[str, Any], named: str) -> int:
    """The number of a node of the cluster that is named by it, or by what people call it.

    Raises:
        HttpError: 404, with the names that there are.
    """
    nodes = [node for node in status["nodes"] if node["standing"] != "gone"]
    for node in nodes:
        if named in (node["name"], str(node["node"])):
            return int(node["node"])
    names = ", ".join(node["name"] for node in nodes)
    raise HttpError(404, "node_unknown", f"no node {named!r} in the cluster", f"there are {names}")
