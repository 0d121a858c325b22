"""Runs the application with uvicorn in a thread of its own."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import socket
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import uvicorn
from starlette.types import ASGIApp

from lapwing.config.http import is_open
from lapwing.config.openness import guards_of_mqtt
from lapwing.errors import AddressInUseError, BrokerError
from lapwing.host_port import split_host_port
from lapwing.http.accepting import AcceptingServer
from lapwing.http.app import make_app
from lapwing.http.authority import Authority
from lapwing.http.counters import HttpCounters
from lapwing.http.identify import Identifier
from lapwing.http.tls import ServerTls, TlsEntry
from lapwing.http_listener.connections import LimitedProtocol, limited_protocol
from lapwing.http_listener.places import Places
from lapwing.listening import bind_every, close_all, shown_address
from lapwing.same_origin import HostNames

if TYPE_CHECKING:
    from lapwing._core import Node
    from lapwing.config import Config, HttpSection

_log = logging.getLogger(__name__)
_HEAD_BYTES_MAX = 64 << 10
_BACKLOG = 256
_START_TIMEOUT_S = 10
_STOP_TIMEOUT_S = 5


class HttpServer:
    """One HTTP listener, at every address that its host stands for; started once, stopped once.

    Raises:
        ConfigError: a file that TLS needs cannot be used.
    """

    def __init__(
        self,
        app: ASGIApp,
        address: str,
        settings: HttpSection,
        counters: HttpCounters,
        authority: Authority,
        identifier: Identifier,
    ) -> None:
        self._address = address
        self._settings = settings
        self._authority = authority
        self._identifier = identifier
        self._places = Places(settings.connections_max)
        self._tls = ServerTls(settings, counters, self._places) if settings.certificate is not None else None
        self._server = AcceptingServer(self._uvicorn_config(app, counters), counters)
        self._thread: threading.Thread | None = None
        self._notice = ""
        self.url = ""
        """``http://HOST:PORT``, or ``https``, with the real port, once started."""

    def _uvicorn_config(self, app: ASGIApp, counters: HttpCounters) -> uvicorn.Config:
        keep_alive_s = max(1, self._settings.keep_alive // 1000)
        protocol = limited_protocol(
            self._places,
            counters,
            head_timeout_s=keep_alive_s,
            write_timeout_s=self._settings.write_timeout / 1000,
            setting="http.connections_max",
        )
        # h11 and not httptools: httptools has no limit on the size of a request's head.
        return uvicorn.Config(
            app,
            http=self._protocol(protocol),
            ws="none",
            loop="asyncio",
            lifespan="off",
            log_config=None,
            log_level="critical",  # peers must not fill the log; the application logs defects
            access_log=False,
            proxy_headers=False,
            server_header=False,
            backlog=_BACKLOG,
            timeout_keep_alive=keep_alive_s,
            timeout_graceful_shutdown=_STOP_TIMEOUT_S,
            h11_max_incomplete_event_size=_HEAD_BYTES_MAX,
        )

    def _protocol(self, plain: type[LimitedProtocol]) -> type[asyncio.Protocol]:
        tls = self._tls
        if tls is None:
            return plain

        def entry(*args: Any, **kwargs: Any) -> asyncio.Protocol:
            inner = plain(*args, **kwargs)
            return TlsEntry(tls, inner)

        return cast("type[asyncio.Protocol]", entry)  # uvicorn only calls it

    def read_again(self) -> Callable[[str], None]:
        """Reads the certificates again; nothing changes yet.

        Returns:
            What takes them over for new connections, together with users and rules (``lapwing.config.access_json``)
            that the node has taken already, and verifies everybody anew.

        Raises:
            ConfigError: a certificate's file cannot be used.
        """
        context = None if self._tls is None else self._tls.read_again()

        def take(access: str) -> None:
            self._authority.reload(access)
            self._identifier.reload(has_rules=bool(json.loads(access)["rules"]))
            if self._tls is not None and context is not None:
                self._tls.context = context
            self._tell()

        return take

    def start(self, bound: Sequence[socket.socket] | None = None) -> None:
        """Listens; answers requests on return.

        Args:
            bound: As :func:`bind_http` gives it; None: it is bound now.

        Raises:
            AddressInUseError: another process listens there.
            BrokerError: the address cannot be listened on.
        """
        listeners = _listen(bound or _bind(self._address, self._settings.write_timeout), self._address)
        self.url = f"{'http' if self._tls is None else 'https'}://{shown_address(self._address, listeners)}"
        self._identifier.url = self.url
        self._thread = threading.Thread(target=self._server.run, args=(listeners,), name="lapwing-http", daemon=True)
        self._thread.start()
        self._wait_until_started()
        self._tell()

    def _tell(self) -> None:
        """Says who may what where that may surprise; once, until it is another."""
        notice = self._identifier.notice()
        if notice and notice != self._notice:
            _log.warning(notice)
        self._notice = notice

    def _wait_until_started(self) -> None:
        waited = threading.Event()
        for _ in range(_START_TIMEOUT_S * 200):
            if self._server.started:
                return
            if self._thread is None or not self._thread.is_alive():
                break
            waited.wait(0.005)
        raise BrokerError("the HTTP server did not start", where=self.url, remedy="see the broker's log")

    def stop(self) -> None:
        """Stops accepting, lets running answers end (5 s at most), and waits for the thread."""
        if self._thread is None:
            return
        self._server.should_exit = True
        if self._tls is not None:
            self._tls.stop()
        self._thread.join(_STOP_TIMEOUT_S * 2)
        self._thread = None


def bind_http(config: Config) -> list[socket.socket]:
    """Sockets at ``broker.http``, which is set: for a process that may bind that port now, and not later.

    Raises:
        BrokerError: the address cannot be bound.
    """
    return _bind(config.broker.http or "", config.http.write_timeout)


def serve_http(
    node: Node,
    authority: Authority,
    config: Config,
    *,
    has_hooks: bool = False,
    bound: Sequence[socket.socket] | None = None,
) -> HttpServer:
    """The HTTP side of ``node`` where ``config`` says, listening.

    Args:
        node: A started node.
        authority: Its users and rules, perhaps none.
        config: The broker's configuration; its ``broker.http`` is set.
        has_hooks: Hooks judge clients, beside what the configuration says.
        bound: As :func:`bind_http` gives it; None: it is bound now.

    Raises:
        LapwingError: it cannot listen, or a file of its TLS cannot be used.
    """
    address, settings, counters = config.broker.http or "", config.http, HttpCounters()
    identifier = Identifier(
        authority,
        node.identify,
        has_rules=bool(config.rules),
        is_exposed=is_open(address),
        guards="" if settings.open else guards_of_mqtt(config, has_hooks=has_hooks),
        failures_max=settings.failures_max,
        counters=counters,
    )
    names = HostNames(split_host_port(address)[0], settings.hosts)
    app = make_app(node, settings, counters, identifier, names)
    server = HttpServer(app, address, settings, counters, authority, identifier)
    server.start(bound)
    return server


def _bind(address: str, write_timeout_ms: int) -> list[socket.socket]:
    def prepare(bound: socket.socket) -> None:
        # Accepted sockets inherit it: the kernel itself drops a peer that takes no byte for that long.
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, min(write_timeout_ms, 2**31 - 1))

    try:
        return bind_every(address, prepare)
    except OSError as error:
        raise _listen_error(address, error) from error


def _listen(bound: Sequence[socket.socket], address: str) -> list[socket.socket]:
    try:
        for one in bound:
            one.listen(_BACKLOG)
    except OSError as error:  # somebody who bound it at the same time was faster
        close_all(bound)
        raise _listen_error(address, error) from error
    return list(bound)


def _listen_error(address: str, error: OSError) -> BrokerError:
    where = f"http://{address}"
    if error.errno == errno.EADDRINUSE:
        remedy = 'stop the other process, or choose another address: --http 127.0.0.1:0, or "off"'
        return AddressInUseError(f"{address} is in use by another process", where=where, remedy=remedy)
    return BrokerError(f"cannot listen: {error.strerror}", where=where, remedy="choose another --http address")
