"""Limits on connections themselves, which uvicorn does not have.

uvicorn limits requests, not connections, and starts its clock after the first answer: a peer that connects and
says nothing, or sends its request a byte at a time, would stay for ever. Here a connection needs one of the
``places``, a request's head must be whole within ``http.keep_alive``, and an answer is taken at a pace (``unsent``).
A connection whose peer does not take what was written waits: it can be displaced.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, ClassVar, Protocol

from starlette.types import Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from lapwing.http_listener.http_error import HttpError
from lapwing.http_listener.kept_places import put_refusal
from lapwing.http_listener.peer import peer_of
from lapwing.http_listener.places import Place, Places
from lapwing.http_listener.unsent import Unsent, WritingClock
from lapwing.same_origin import NO_SNIFFING

_CLOSE = (b"connection", b"close")
_LENGTHS = {b"content-length", b"transfer-encoding"}
_LINGER_S = 1.0
_LINGER_BYTES_MAX = 16 << 20
"""Who is refused in the midst of sending is heard out for so long and so much, unread: closed at once, the kernel would
throw away what the peer was told."""


class ConnectionCounters(Protocol):
    """Who counts connections that are ended, as `lapwing.http.counters.HttpCounters` does."""

    def ended(self, name: str, address: str) -> None:
        """One was, under this name of a counter."""

    def no_http(self, address: str) -> None:
        """What one sent is no request."""


class LimitedProtocol(H11Protocol):
    """One connection; ``limited_protocol`` makes the class that knows its limits."""

    places: ClassVar[Places]
    head_timeout_s: ClassVar[float]
    write_timeout_s: ClassVar[float]
    counters: ClassVar[ConnectionCounters]
    setting: ClassVar[str]
    place: Place | None = None
    """Taken before, where there was a handshake."""
    below: asyncio.Transport | None = None
    """What carries the encrypted bytes, where there was a handshake."""
    is_trusted: Callable[[], bool] | None = None
    """Whether the client's certificate counts still; None: none was asked for."""
    _late: asyncio.TimerHandle | None = None
    _is_paused = False
    """The peer does not take what was written."""
    _unread_bytes: int | None = None
    """Thrown away since it was refused; None: it was not."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Takes the connection, or refuses it when there are too many."""
        super().connection_made(transport)
        self.client = peer_of(transport)
        self._application, self.app = self.app, self._answer
        self._unsent = Unsent(transport) if self.below is None else Unsent(transport, self.below)
        self._writing = WritingClock(self._unsent, self.write_timeout_s, self._reads_too_slowly)
        if self.place is None:
            self.place = self.places.take(self._address(), self.give_up)
        if self.place is None:
            self.give_up()
            return
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        """Part of a request: the clock runs from its first byte until its head is whole."""
        if self._unread_bytes is not None:
            self._unread_bytes += len(data)
            if self._unread_bytes > _LINGER_BYTES_MAX:
                self.transport.abort()
            return
        if self.is_trusted is not None and not self._answering() and not self.is_trusted():
            # As an idle connection is closed: the client comes again, and shows its certificate.
            self.counters.ended("lapwing_http_certificates_lapsed_total", self._address())
            self._stop_clock()
            self._close()
            return
        if self._late is None and not self._answering():
            self._expect_head()
        super().data_received(data)
        if self._answering():
            self._head_is_here()

    def on_response_complete(self) -> None:
        """The end of an answer; the connection may stay for another request."""
        super().on_response_complete()
        if self._answering():
            return
        if self.place is not None:
            self.places.wait(self.place)
        if self._unsent.here():
            self._writing.start()

    def pause_writing(self) -> None:
        """The peer does not take what was written: it waits, whatever it has asked for."""
        super().pause_writing()
        self._is_paused = True
        if self.place is not None:
            self.places.wait(self.place)
        self._writing.start()

    def resume_writing(self) -> None:
        """It has taken most of it."""
        super().resume_writing()
        self._is_paused = False
        if self._answering() and not self.transport.is_closing():
            self._writing.stop()
            self._go_on()

    def connection_lost(self, exc: Exception | None) -> None:
        """The end of the connection."""
        self._stop_clock()
        self._writing.stop()
        if self.place is not None:
            self.places.leave(self.place)
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP is told so as all the rest is; in the middle of an answer there is nothing to be said."""
        self.counters.no_http(self._address())
        if self._answering():
            self.transport.abort()
            return
        self._stop_clock()
        error = HttpError(400, "bad_request", msg.rstrip("."), "send a request of HTTP/1.1")
        if not self.transport.can_write_eof():  # TLS
            self._say_and_close(error)
            return
        self.transport.write(error.raw())
        self.transport.write_eof()
        self._unread_bytes = 0
        self._late = self.loop.call_later(_LINGER_S, self.transport.abort)

    def give_up(self) -> None:
        """Goes, because there is no place, or another needs this one."""
        self.counters.ended("lapwing_http_connections_refused_total", self._address())
        if self._unread_bytes is not None or self._unsent.here():
            self.transport.abort()  # closed, it would stay until its peer had taken everything
            return
        if self.cycle is not None and self._late is None:
            # Idle between two requests: what it is told now it would take for the answer to the next.
            self.transport.close()
            return
        self._stop_clock()
        self._say_and_close(self._too_many())

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The application; at a kept place it learns so, and the connection does not stay."""
        if _LENGTHS.issubset(name for name, _ in scope["headers"]):
            self.counters.no_http(self._address())
            await _two_lengths().response()(scope, receive, send)
            return
        if self.place is None or not self.place.is_kept:
            await self._application(scope, receive, send)
            return

        async def send_and_close(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), _CLOSE]}
            await send(message)

        put_refusal(scope, self._too_many())
        await self._application(scope, receive, send_and_close)

    def _address(self) -> str:
        return self.client[0] if self.client else ""

    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _expect_head(self) -> None:
        self._late = self.loop.call_later(self.head_timeout_s, self._head_is_late)

    def _head_is_here(self) -> None:
        self._stop_clock()
        if not self._is_paused:
            self._writing.stop()
            self._go_on()

    def _go_on(self) -> None:
        if self.place is not None:
            self.places.go_on(self.place)

    def _stop_clock(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _head_is_late(self) -> None:
        self._late = None
        self.counters.ended("lapwing_http_connections_late_total", self._address())
        self.transport.abort()

    def _reads_too_slowly(self) -> None:
        self.counters.ended("lapwing_http_slow_readers_total", self._address())
        self.transport.abort()

    def _too_many(self) -> HttpError:
        return HttpError(
            503,
            "too_many_connections",
            f"{self.places.connections_max} connections are open",
            f"try again after Retry-After{self.setting and f', or raise {self.setting}'}",
            headers={"Retry-After": "1"},
            connections_max=self.places.connections_max,
        )

    def _say_and_close(self, error: HttpError) -> None:
        self.transport.write(error.raw())
        self._close()

    def _close(self) -> None:
        self.transport.close()
        if self._unsent.here():
            self._writing.start()


def limited_protocol(
    places: Places,
    counters: ConnectionCounters,
    *,
    head_timeout_s: float,
    write_timeout_s: float,
    setting: str = "",
) -> type[LimitedProtocol]:
    """The class with its limits: uvicorn makes the instances itself and knows nothing of them.

    Args:
        places: How many connections there may be.
        counters: Where it is counted that one is ended.
        head_timeout_s: Within it a request's head must be whole.
        write_timeout_s: See `lapwing.http_listener.unsent`.
        setting: The one that says how many places there are; empty: none.
    """
    limits: dict[str, Any] = {
        "places": places,
        "counters": counters,
        "head_timeout_s": head_timeout_s,
        "write_timeout_s": write_timeout_s,
        "setting": setting,
    }
    return type("LimitedProtocol", (LimitedProtocol,), limits)


def _two_lengths() -> HttpError:
    """Something in front may believe the other one, and take what we hear as the next request for this one's body."""
    headers = {name.decode(): value.decode() for name, value in (NO_SNIFFING, _CLOSE)}
    what = "both Content-Length and Transfer-Encoding say how long the body is"
    return HttpError(400, "bad_request", what, "send one of them", headers=headers)
