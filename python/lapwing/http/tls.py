"""TLS before HTTP: uvicorn serves what comes out of the handshake.

uvicorn's own TLS has no clock on a handshake shorter than a minute, no limit on how many are under way, and reads its
files once. Here a connection that has not shaken hands in time is dropped, handshakes count as connections, and
another ``context`` is used from the next connection on.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from lapwing.http.counters import HttpCounters
from lapwing.http.server_context import ServerContext, server_context
from lapwing.http_listener.connections import LimitedProtocol
from lapwing.http_listener.peer import peer_of
from lapwing.http_listener.places import Place, Places

if TYPE_CHECKING:
    from lapwing.config import HttpSection

_SHUTDOWN_TIMEOUT_S = 5.0


class ServerTls:
    """The files in force, and the handshakes under way."""

    def __init__(self, settings: HttpSection, counters: HttpCounters, places: Places) -> None:
        self._settings = settings
        self.counters = counters
        self._places = places
        self._under_way: set[asyncio.Transport] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopped = False
        self.context = server_context(settings)

    def read_again(self) -> ServerContext:
        """What the files hold now, for ``context``.

        Raises:
            ConfigError: one cannot be used.
        """
        return server_context(self._settings)

    def admit(self, transport: asyncio.Transport) -> Place | None:
        """A place for one more handshake, for that is a connection too; None: there is none."""
        if self._stopped:
            return None
        address = _address(transport)

        def give_up() -> None:
            self.counters.ended("lapwing_http_connections_refused_total", address)
            transport.abort()  # nothing can be said before the handshake

        place = self._places.take(address, give_up)
        if place is None:
            self.counters.ended("lapwing_http_connections_refused_total", address)
            return None
        self._loop = asyncio.get_running_loop()
        self._under_way.add(transport)
        return place

    async def shake_hands(self, transport: asyncio.Transport, entry: TlsEntry) -> asyncio.Transport | None:
        """The encrypted connection, or None: it is dropped."""
        try:
            return await asyncio.get_running_loop().start_tls(
                transport,
                entry,
                self.context,
                server_side=True,
                ssl_handshake_timeout=self._settings.keep_alive / 1000,
                ssl_shutdown_timeout=_SHUTDOWN_TIMEOUT_S,
            )
        except (OSError, TimeoutError):  # ssl.SSLError is an OSError
            self.counters.ended("lapwing_http_handshakes_failed_total", _address(transport))
            transport.abort()
            return None
        finally:
            self._under_way.discard(transport)

    def trust(self, secure: asyncio.Transport) -> Callable[[], bool] | None:
        """Tells whether the certificate that a client has shown counts still; None: clients show none.

        A session that is resumed shows it no more, and OpenSSL looks neither at its time nor at lists then: so that is
        done here.
        """
        if self._settings.client_ca is None:
            return None
        context, shown = secure.get_extra_info("sslcontext"), secure.get_extra_info("peercert")
        ends_s: float = ssl.cert_time_to_seconds(shown["notAfter"]) if shown else 0
        if isinstance(context, ServerContext):
            ends_s = min(ends_s, context.lists_until_s)
        return lambda: self.context is context and time.time() < ends_s

    def let_go(self, place: Place) -> None:
        """The connection of that place has ended in its handshake."""
        self._places.leave(place)

    def stop(self) -> None:
        """Drops the handshakes under way, and those to come; any thread may call it."""
        self._stopped = True
        if self._loop is not None:
            # The loop may have ended by itself; then nothing is under way.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._drop_all)

    def _drop_all(self) -> None:
        for transport in list(self._under_way):
            transport.abort()


def _address(transport: asyncio.Transport) -> str:
    peer = peer_of(transport)
    return peer[0] if peer else ""


class TlsEntry(asyncio.Protocol):
    """A connection during its handshake; then ``inner`` takes it over.

    Bytes behind the handshake's last may be decrypted before this one's task goes on; they are kept for ``inner``.
    """

    def __init__(self, tls: ServerTls, inner: LimitedProtocol) -> None:
        self._tls = tls
        self._inner = inner
        self._task: asyncio.Task[None] | None = None
        self._early: list[bytes] = []
        self._is_lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begins the handshake, unless there are too many connections: then nothing can be said before it."""
        assert isinstance(transport, asyncio.Transport)
        place = self._tls.admit(transport)
        if place is None:
            transport.abort()
            return
        transport.pause_reading()  # what comes belongs to the handshake
        self._task = asyncio.get_running_loop().create_task(self._enter(transport, place))

    async def _enter(self, transport: asyncio.Transport, place: Place) -> None:
        secure = await self._tls.shake_hands(transport, self)
        if secure is None or self._is_lost or secure.is_closing():
            self._tls.let_go(place)
            return
        place.give_up = self._inner.give_up
        self._inner.place = place
        self._inner.below = transport
        self._inner.is_trusted = self._tls.trust(secure)
        secure.set_protocol(self._inner)
        self._inner.connection_made(secure)
        for data in self._early:
            self._inner.data_received(data)

    def data_received(self, data: bytes) -> None:
        """The first bytes of a request."""
        self._early.append(data)

    def connection_lost(self, _exc: Exception | None) -> None:
        """The end, before there was a request."""
        self._is_lost = True
