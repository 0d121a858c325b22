"""``/v1/bans``: addresses and user names that may not log in for now, because their passwords were wrong."""

from __future__ import annotations

from functools import partial
from typing import Any, Protocol

from starlette.requests import Request
from starlette.responses import Response

from lapwing.http.caller import caller_of
from lapwing.http.of_node import of_node
from lapwing.http.query import check_names
from lapwing.http_listener.http_error import HttpError
from lapwing.json_answer import JsonAnswer


class BansNode(Protocol):
    """What this room asks of the node."""

    def bans(self) -> list[tuple[str, str | None, int, int]]:
        """All of them: address, user name, wrong passwords, seconds left."""

    def lift_bans(self, address_or_name: str) -> int:
        """Lifts those of an address or a user name, from wherever; how many there were."""


class Bans:
    """Who may ``observe`` sees them; to lift one takes ``admin``."""

    def __init__(self, node: BansNode) -> None:
        self._node = node

    async def index(self, request: Request) -> Response:
        """``GET /v1/bans``: every one, by address; ``user`` is null where it is the address, whatever the name."""
        caller_of(request.scope).need_to_observe()
        check_names(request.query_params, ())
        return await of_node(lambda: JsonAnswer({"bans": [_ban(*ban) for ban in self._node.bans()]}))

    async def lift(self, request: Request) -> Response:
        """``DELETE /v1/bans/ADDRESS`` or ``/v1/bans/NAME``: those may log in again; their failures are forgotten."""
        caller_of(request.scope).need_to_administer()
        who = request.path_params["who"]
        if lifted := await of_node(partial(self._node.lift_bans, who)):
            return JsonAnswer({"lifted": lifted})
        remedy = "GET /v1/bans names those there are; an address or name is percent-encoded in a path"
        raise HttpError(404, "ban_unknown", f"no ban of {who!r}", remedy)


def _ban(address: str, user: str | None, failures: int, ends_in_s: int) -> dict[str, Any]:
    return {"address": address, "user": user, "failures": failures, "ends_in_s": ends_in_s}
