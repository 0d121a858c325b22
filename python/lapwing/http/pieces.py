"""A response body sent in pieces, so that a slow reader costs memory once.

Given whole, a body of 64 MiB would be copied into the transport's buffer at once and stay there for as long as the
reader takes; in pieces each one waits until the buffer has drained below its high-water mark. How long that may take is
the connection's affair (`lapwing.http_listener.unsent`).
"""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

_PIECE_BYTES = 256 << 10


class PiecesResponse(Response):
    """``body`` in pieces of 256 KiB; HEAD sends only the headers."""

    def __init__(self, body: bytes, *, headers: Mapping[str, str], media_type: str) -> None:
        super().__init__(b"", headers={**headers, "content-length": str(len(body))}, media_type=media_type)
        self.body = body

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Sends the response."""
        body = b"" if scope["method"] == "HEAD" else self.body
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        view = memoryview(body)
        for start in range(0, len(body), _PIECE_BYTES):
            piece = bytes(view[start : start + _PIECE_BYTES])
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
