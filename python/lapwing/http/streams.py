"""``/v1/streams`` and ``/v1/streams/NAME``: which streams there are, and where each partition begins."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import anyio
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from lapwing.http.errors import HttpError

if TYPE_CHECKING:
    from lapwing._core import Node


class Streams:
    """What the node says of its streams; asked in a thread, since a drain may hold the node."""

    def __init__(self, node: Node) -> None:
        self._node = node

    async def index(self, _request: Request) -> Response:
        """``GET /v1/streams``."""
        return JSONResponse({"streams": await self._all()})

    async def info(self, request: Request) -> Response:
        """``GET /v1/streams/NAME``."""
        return JSONResponse(await self.find(request.path_params["name"]))

    async def find(self, name: str) -> dict[str, Any]:
        """One stream.

        Raises:
            HttpError: 404, with the names that exist.
        """
        streams = await self._all()
        found = next((stream for stream in streams if stream["name"] == name), None)
        if found is not None:
            return found
        known = [stream["name"] for stream in streams]
        remedy = f"known streams: {', '.join(known)}" if known else "add [streams.NAME] to the configuration"
        raise HttpError(404, "stream_unknown", f"no stream {name!r}", remedy, streams=known)

    async def _all(self) -> list[dict[str, Any]]:
        text = await anyio.to_thread.run_sync(self._node.streams_json)
        streams: list[dict[str, Any]] = json.loads(text)["streams"]
        return streams
