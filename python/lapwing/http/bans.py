"""``/v1/bans``: addresses and user names that may not log in for now, because their passwords were wrong."""

from __future__ import annotations

import json
from functools import partial
from typing import Protocol

import anyio
from starlette.requests import Request
from starlette.responses import Response

from lapwing._core import CoreError
from lapwing.http.caller import caller_of
from lapwing.http.errors import HttpError, http_error_of_core
from lapwing.http.query import check_names
from lapwing.json_answer import JsonAnswer


class BansNode(Protocol):
    """What this room asks of the node."""

    def bans_json(self) -> str:
        """All of them."""

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
        try:
            text = await anyio.to_thread.run_sync(self._node.bans_json)
        except CoreError as error:
            raise http_error_of_core(error) from error
        return JsonAnswer(json.loads(text))

    async def lift(self, request: Request) -> Response:
        """``DELETE /v1/bans/ADDRESS`` or ``/v1/bans/NAME``: those may log in again; their failures are forgotten."""
        caller_of(request.scope).need_to_administer()
        who = request.path_params["who"]
        try:
            lifted = await anyio.to_thread.run_sync(partial(self._node.lift_bans, who))
        except CoreError as error:
            raise http_error_of_core(error) from error
        if lifted:
            return JsonAnswer({"lifted": lifted})
        remedy = "GET /v1/bans names those there are; an address or name is percent-encoded in a path"
        raise HttpError(404, "ban_unknown", f"no ban of {who!r}", remedy)
