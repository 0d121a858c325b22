"""``/v1/streams`` and below: which streams there are, where each partition begins, and who reads by name."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response

from lapwing.http.caller import Caller, caller_of
from lapwing.http.of_node import of_node
from lapwing.http_listener.http_error import HttpError
from lapwing.json_answer import JsonAnswer

if TYPE_CHECKING:
    from lapwing._core import Node


class Streams:
    """What the node says of its streams; asked in a thread, since a drain may hold the node."""

    def __init__(self, node: Node) -> None:
        self._node = node

    async def index(self, request: Request) -> Response:
        """``GET /v1/streams``: those that the caller may know of."""
        caller = caller_of(request.scope)
        seen = await self._seen_by(caller)
        if not seen:
            caller.need_to_list()
        return JsonAnswer({"streams": seen})

    async def info(self, request: Request) -> Response:
        """``GET /v1/streams/NAME``: as in the list, and its named readers."""
        name, caller = request.path_params["name"], caller_of(request.scope)
        caller.need_to_see(name)
        stream = await self.find(name, caller)
        readers = await of_node(partial(self._node.readers, name))
        return JsonAnswer({**stream, "readers": [_reader(*reader) for reader in readers]})

    async def forget(self, request: Request) -> Response:
        """``DELETE /v1/streams/NAME/readers/READER``: 204, or 404 when there is none of that name."""
        name, reader = request.path_params["name"], request.path_params["reader"]
        caller = caller_of(request.scope)
        caller.need_to_administer()
        await self.find(name, caller)
        if await of_node(partial(self._node.forget_reader, name, reader)):
            return Response(status_code=204)
        remedy = f"GET /v1/streams/{name} names those there are"
        raise HttpError(404, "reader_unknown", f"stream {name!r} remembers no reader {reader!r}", remedy)

    async def find(self, name: str, caller: Caller) -> dict[str, Any]:
        """One stream; whether the caller may read it has been asked before.

        Raises:
            HttpError: 404, with the names that exist and that the caller may know of.
        """
        streams = await self._seen_by(caller)
        found = next((stream for stream in streams if stream["name"] == name), None)
        if found is not None:
            return found
        known = [stream["name"] for stream in streams]
        remedy = f"known streams: {', '.join(known)}" if known else "add [streams.NAME] to the configuration"
        raise HttpError(404, "stream_unknown", f"no stream {name!r}", remedy, streams=known)

    async def _seen_by(self, caller: Caller) -> list[dict[str, Any]]:
        text = await of_node(self._node.streams_json)
        streams: list[dict[str, Any]] = json.loads(text)["streams"]
        return [stream for stream in streams if caller.may_see(stream["name"])]


def _reader(name: str, seen_at_ms: int, positions: list[tuple[int, int]]) -> dict[str, Any]:
    seen_at = datetime.fromtimestamp(seen_at_ms / 1000, UTC).isoformat(timespec="milliseconds")
    places = [{"partition": partition, "next_offset": offset} for partition, offset in sorted(positions)]
    return {"name": name, "seen_at": seen_at.replace("+00:00", "Z"), "partitions": places}
