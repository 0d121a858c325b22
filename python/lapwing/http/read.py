"""``/v1/streams/NAME/PARTITION``: messages as Arrow IPC.

``http.reads_max`` reads run at a time (`lapwing.http.read_places`), and what comes beyond is refused at once instead of
queued: a reader has its own patience and its own offset, so it loses nothing by coming again.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import anyio
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from lapwing._core import CoreError
from lapwing.http.caller import Caller, caller_of
from lapwing.http.counters import HttpCounters
from lapwing.http.errors import http_error_of_core
from lapwing.http.parameters import ReadParameters, read_parameters
from lapwing.http.pieces import PiecesResponse
from lapwing.http.read_places import ReadPlaces
from lapwing.http.streams import Streams
from lapwing.same_origin import looks_for_a_page

if TYPE_CHECKING:
    from lapwing._core import Node
    from lapwing.config import HttpSection

ARROW = "application/vnd.apache.arrow.stream"
_OLDEST_READS_MAX = 8
"""Each of them, retention has taken a segment between two steps of ours."""


class ReadEndpoint:
    """An ASGI application rather than a function: it holds its place until the body has been sent."""

    def __init__(self, node: Node, streams: Streams, settings: HttpSection, counters: HttpCounters) -> None:
        self._node = node
        self._streams = streams
        self._settings = settings
        self._counters = counters
        self._places = ReadPlaces(settings, counters, lambda: node.hold_reads(0))
        self._threads: anyio.CapacityLimiter | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request.

        Raises:
            HttpError: for everything that is not a body of Arrow.
        """
        caller = caller_of(scope)
        # First of all: who may not read a stream learns nothing of it, not even that a parameter is wrong.
        caller.need_to_read(scope["path_params"]["name"])
        wanted = read_parameters(Request(scope))
        if wanted.reader is not None and looks_for_a_page(scope):
            self._counters.add("lapwing_http_readers_ignored_total")
            wanted = replace(wanted, reader=None)
        if scope["method"] == "HEAD":
            # Who asks for the headers alone has read nothing.
            wanted = replace(wanted, reader=None)
        with self._places.hold(caller):
            response = await self._read(wanted, caller)
            # Until it has been sent, it counts with what clients hold.
            self._node.hold_reads(len(response.body))
            try:
                with anyio.move_on_after(self._settings.read_timeout / 1000) as in_time:
                    await response(scope, receive, send)
                if in_time.cancelled_caught:
                    address = scope["client"][0] if scope.get("client") else ""
                    self._counters.ended("lapwing_http_slow_readers_total", address)
            finally:
                self._node.hold_reads(-len(response.body))

    async def _read(self, wanted: ReadParameters, caller: Caller) -> Response:
        stream = await self._streams.find(wanted.name, caller)
        read = partial(self._read_from, wanted, caller, _first_offset(stream["partitions"], wanted))
        try:
            body, first, following, end = await anyio.to_thread.run_sync(read, limiter=self._limiter())
        except CoreError as error:
            raise http_error_of_core(error) from error
        self._counters.add("lapwing_http_body_bytes_total", len(body))
        headers = {
            "Lapwing-First-Offset": str(first),
            "Lapwing-Next-Offset": str(following),
            "Lapwing-End-Offset": str(end),
            "Lapwing-Stream-Uuid": stream["uuid"],
            "Cache-Control": "no-store",
        }
        return PiecesResponse(body, headers=headers, media_type=ARROW)

    def _read_from(self, wanted: ReadParameters, caller: Caller, first: int) -> tuple[bytes, int, int, int]:
        """What the node gives; ``first`` is the oldest message, from which on is read where nobody says from where.

        That one retention may take before it is read: then the read begins at what is the oldest by then.
        """
        offset, left = (first, _OLDEST_READS_MAX) if wanted.offset_from is None else (wanted.offset_from, 1)
        by = (wanted.reader, caller.name, caller.may_administer())
        while True:
            try:
                return self._node.read_stream(
                    wanted.name, wanted.partition, offset, wanted.messages_max, wanted.bytes_max, *by
                )
            except CoreError as error:
                left -= 1
                if error.code != "offset_trimmed" or not left:
                    raise
                offset = error.evidence["first_offset"]

    def _limiter(self) -> anyio.CapacityLimiter:
        # Made in the event loop, which is not running yet when the application is put together.
        if self._threads is None:
            self._threads = anyio.CapacityLimiter(self._settings.reads_max)
        return self._threads


def _first_offset(partitions: list[dict[str, int]], wanted: ReadParameters) -> int:
    """Where a read without ``from`` begins; an unknown partition is left to the node to refuse."""
    if wanted.partition < len(partitions):
        return partitions[wanted.partition]["first_offset"]
    return 0
