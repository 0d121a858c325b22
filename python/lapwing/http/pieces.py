"""A response body sent in pieces, so that a slow reader costs a bounded time and is noticed.

Given whole, a body of 64 MiB would go into the transport's buffer at once and stay there for as long as the
reader likes; in pieces each one waits until the buffer has drained below its high-water mark.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

_PIECE_BYTES = 256 << 10


class SlowReaderError(Exception):
    """The reader took nothing for the time allowed; the connection is cut off."""


class PiecesResponse(Response):
    """``body`` in pieces of 256 KiB, each taken within ``write_timeout_s``; HEAD sends only the headers."""

    def __init__(self, body: bytes, *, headers: Mapping[str, str], media_type: str, write_timeout_s: float) -> None:
        super().__init__(b"", headers={**headers, "content-length": str(len(body))}, media_type=media_type)
        self.body = body
        self.write_timeout_s = write_timeout_s

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Sends the response.

        Raises:
            SlowReaderError: a piece was not taken in time.
        """
        body = b"" if scope["method"] == "HEAD" else self.body
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        view = memoryview(body)
        try:
            for start in range(0, len(body), _PIECE_BYTES):
                piece = bytes(view[start : start + _PIECE_BYTES])
                message = {"type": "http.response.body", "body": piece, "more_body": True}
                await asyncio.wait_for(send(message), self.write_timeout_s)
            await asyncio.wait_for(send({"type": "http.response.body", "body": b""}), self.write_timeout_s)
        except TimeoutError as error:
            raise SlowReaderError from error
