"""Limits on connections themselves, which uvicorn does not have.

uvicorn limits requests, not connections, and starts its clock after the first answer: a peer that connects and
says nothing, or sends its request a byte at a time, would stay for ever. Here a connection beyond
``connections_max`` is answered 503 and closed, and a request's head must be whole within ``http.keep_alive``.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

from lapwing.http.counters import HttpCounters
from lapwing.http.errors import HttpError


class LimitedProtocol(H11Protocol):
    """One connection; ``limited_protocol`` makes the class that knows its limits."""

    connections_max: ClassVar[int]
    head_timeout_s: ClassVar[float]
    counters: ClassVar[HttpCounters]
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Takes the connection, or refuses it when there are too many."""
        super().connection_made(transport)
        if len(self.connections) > self.connections_max:
            self.counters.add("lapwing_http_connections_refused_total")
            transport.write(_refusal(self.connections_max))
            transport.close()
            return
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        """Part of a request: the clock runs from its first byte until its head is whole."""
        if self._late is None and not self._answering():
            self._expect_head()
        super().data_received(data)
        if self._answering():
            self._head_is_here()

    def connection_lost(self, exc: Exception | None) -> None:
        """The end of the connection."""
        self._head_is_here()
        super().connection_lost(exc)

    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _expect_head(self) -> None:
        self._late = self.loop.call_later(self.head_timeout_s, self._head_is_late)

    def _head_is_here(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _head_is_late(self) -> None:
        self._late = None
        self.counters.add("lapwing_http_connections_late_total")
        self.transport.abort()


def limited_protocol(connections_max: int, head_timeout_s: float, counters: HttpCounters) -> type[LimitedProtocol]:
    """The class with its limits: uvicorn makes the instances itself and knows nothing of them."""
    limits: dict[str, Any] = {
        "connections_max": connections_max,
        "head_timeout_s": head_timeout_s,
        "counters": counters,
    }
    return type("LimitedProtocol", (LimitedProtocol,), limits)


def _refusal(connections_max: int) -> bytes:
    error = HttpError(
        503,
        "too_many_connections",
        f"{connections_max} connections are open",
        "try again after Retry-After, or raise http.connections_max",
        connections_max=connections_max,
    )
    body = json.dumps({"error": error.body}).encode()
    head = (
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
