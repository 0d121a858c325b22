"""``/v1/streams/NAME/PARTITION``: messages as Arrow IPC.

``http.reads_max`` reads run at a time, and what comes beyond is refused at once instead of queued: a reader
has its own patience and its own offset, so it loses nothing by coming again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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
from lapwing.http.errors import HttpError, http_error_of_core
from lapwing.http.parameters import ReadParameters, read_parameters
from lapwing.http.pieces import PiecesResponse, SlowReaderError
from lapwing.http.streams import Streams
from lapwing.same_origin import looks_for_a_page

if TYPE_CHECKING:
    from lapwing._core import Node
    from lapwing.config import HttpSection

ARROW = "application/vnd.apache.arrow.stream"


class ReadEndpoint:
    """An ASGI application rather than a function: it holds its place until the body has been sent."""

    def __init__(self, node: Node, streams: Streams, settings: HttpSection, counters: HttpCounters) -> None:
        self._node = node
        self._streams = streams
        self._settings = settings
        self._counters = counters
        self._reads = 0
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
        with self._place():
            response = await self._read(wanted, caller)
            # Until it has been sent, it counts with what clients hold.
            self._node.hold_reads(len(response.body))
            try:
                await response(scope, receive, send)
            except SlowReaderError:
                self._counters.add("lapwing_http_slow_readers_total")
            finally:
                self._node.hold_reads(-len(response.body))

    @contextmanager
    def _place(self) -> Iterator[None]:
        """One of ``reads_max``; the body lies in memory as long as it is held."""
        if self._reads >= self._settings.reads_max:
            self._counters.add("lapwing_http_reads_refused_total")
            raise HttpError(
                503,
                "too_many_reads",
                f"{self._reads} stream reads are running",
                "try again after Retry-After, or raise http.reads_max",
                headers={"Retry-After": "1"},
                reads_max=self._settings.reads_max,
            )
        if not self._node.hold_reads(0):
            self._counters.add("lapwing_http_reads_refused_total")
            raise HttpError(
                503,
                "memory_high",
                "the broker has no memory to spare for stream reads",
                "try again after Retry-After, or raise limits.memory_high_bytes",
                headers={"Retry-After": "1"},
            )
        self._reads += 1
        try:
            yield
        finally:
            self._reads -= 1

    async def _read(self, wanted: ReadParameters, caller: Caller) -> Response:
        stream = await self._streams.find(wanted.name, caller)
        offset = wanted.offset_from
        if offset is None:
            offset = _first_offset(stream["partitions"], wanted)
        read = partial(
            self._node.read_stream,
            wanted.name,
            wanted.partition,
            offset,
            wanted.messages_max,
            wanted.bytes_max,
            wanted.reader,
            caller.name,
            caller.may_administer(),
        )
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
        timeout_s = self._settings.write_timeout / 1000
        return PiecesResponse(body, headers=headers, media_type=ARROW, write_timeout_s=timeout_s)

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
