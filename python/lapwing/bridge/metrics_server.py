"""``/metrics`` and ``/healthz`` of a bridge, on loopback, for programs of this machine and for no page of the web.

Connections have places and clocks as at the broker's own listener.
"""

from __future__ import annotations

import errno
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterable

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from lapwing.bridge.counts import Counts, prometheus_text
from lapwing.errors import AddressInUseError, BrokerError
from lapwing.host_port import split_host_port
from lapwing.http_listener.connections import limited_protocol
from lapwing.http_listener.http_error import HttpError
from lapwing.http_listener.kept_places import OPEN_PATHS, check_place
from lapwing.http_listener.places import Places
from lapwing.json_answer import JsonAnswer
from lapwing.listening import bind_every, shown_address
from lapwing.same_origin import CROSS_SITE, MISDIRECTED, HostCheck, HostNames

_PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
_CONNECTIONS_MAX = 32
"""As many as a few monitors need; `lapwing.http_listener.places` has those for ``/healthz`` beside them."""
_KEEP_ALIVE_S = 15
_WRITE_TIMEOUT_S = 30.0
_HEAD_BYTES_MAX = 16 << 10
_ENDED = {
    "lapwing_http_connections_refused_total": "too_many_connections",
    "lapwing_http_connections_late_total": "late",
    "lapwing_http_slow_readers_total": "slow_reader",
}
"""Reasons, by the broker's counters of the same."""
_NO_HTTP = "no_http"
_START_S = 10.0
_STOP_S = 5
_NAMES_HELP = "use 127.0.0.1, [::1] or localhost, or what bridge.metrics says"


class MetricsServer:
    """One HTTP listener in a thread of its own.

    Args:
        address: ``HOST:PORT``, which the configuration has found to be loopback's.
        all_counts: Gives the counts of every lane.
    """

    def __init__(self, address: str, all_counts: Callable[[], Iterable[Counts]]) -> None:
        self._address = address
        self._all_counts = all_counts
        self._started = threading.Event()
        self._refused = Counter(dict.fromkeys((MISDIRECTED, CROSS_SITE, _NO_HTTP, *_ENDED.values()), 0))
        protocol = limited_protocol(
            Places(_CONNECTIONS_MAX), self, head_timeout_s=_KEEP_ALIVE_S, write_timeout_s=_WRITE_TIMEOUT_S
        )
        routes = Starlette(routes=[Route("/metrics", self._metrics), Route("/healthz", self._alive)])
        names = HostNames(split_host_port(address)[0])
        self._server = _Server(
            uvicorn.Config(
                HostCheck(_Placed(routes), names, remedy=_NAMES_HELP, refused=self._count),
                http=protocol,
                ws="none",
                loop="asyncio",
                lifespan="off",
                log_config=None,
                log_level="critical",
                access_log=False,
                proxy_headers=False,
                server_header=False,
                timeout_keep_alive=_KEEP_ALIVE_S,
                h11_max_incomplete_event_size=_HEAD_BYTES_MAX,
                timeout_graceful_shutdown=_STOP_S,
            ),
            self._started,
        )
        self._thread: threading.Thread | None = None
        self._listeners: list[socket.socket] = []
        self.url = ""
        """``http://HOST:PORT`` with the real port, once it listens."""

    def listen(self) -> None:
        """Takes the address, and answers nobody yet.

        Raises:
            AddressInUseError: another process listens there.
            BrokerError: the address cannot be listened on.
        """
        try:
            self._listeners = bind_every(self._address)
            for listener in self._listeners:
                listener.listen()
        except OSError as error:
            self.release()
            remedy = 'choose another bridge.metrics, as 127.0.0.1:0, or "off"'
            kind = AddressInUseError if error.errno == errno.EADDRINUSE else BrokerError
            what = f"bridge.metrics cannot be listened on: {error.strerror}"
            raise kind(what, where=self._address, remedy=remedy) from error
        self.url = f"http://{shown_address(self._address, self._listeners)}"

    def release(self) -> None:
        """Lets the address go that nobody was answered at."""
        for listener in self._listeners:
            listener.close()
        self._listeners = []

    def start(self) -> None:
        """Answers on return; listens first, if nobody has called `listen`.

        Raises:
            LapwingError: As `listen`; or it does not start.
        """
        if not self._listeners:
            self.listen()
        self._thread = threading.Thread(
            target=self._server.run, args=(self._listeners,), name="bridge-metrics", daemon=True
        )
        self._thread.start()
        if not self._started.wait(_START_S):
            raise BrokerError("the metrics' server did not start", where=self.url)

    def stop(self) -> None:
        """Answers nobody any more."""
        if self._thread is not None:
            self._server.should_exit = True
            self._thread.join(2 * _STOP_S)

    def ended(self, name: str, _address: str) -> None:
        """A connection was; see `lapwing.http_listener.connections.ConnectionCounters`."""
        self._refused[_ENDED[name]] += 1

    def no_http(self, _address: str) -> None:
        """What one sent is no request."""
        self._refused[_NO_HTTP] += 1

    async def _metrics(self, _request: Request) -> Response:
        text = prometheus_text(self._all_counts()) + self._refusals()
        return PlainTextResponse(text, media_type=_PROMETHEUS)

    def _count(self, reason: str, _status: int) -> None:
        self._refused[reason] += 1

    def _refusals(self) -> str:
        name = "lapwing_bridge_http_refused_total"
        lines = [f"# HELP {name} Requests refused, and connections ended, here, by reason.\n# TYPE {name} counter\n"]
        return "".join(lines + [f'{name}{{reason="{why}"}} {count}\n' for why, count in sorted(self._refused.items())])

    async def _alive(self, _request: Request) -> Response:
        """Alive, or which rules wait: then nothing is wrong here, and to start again would help nobody."""
        lanes = self._all_counts()
        waiting = sorted({lane.rule for lane in lanes if lane.waiting_s() > 0 or not lane.is_connected()})
        if waiting:
            return JsonAnswer({"status": "waiting", "rules": waiting}, status_code=503)
        return JsonAnswer({"status": "alive"})


class _Placed:
    """ASGI middleware: at the places that are kept for it health is served, and nothing else."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        try:
            if scope["path"] not in OPEN_PATHS:
                check_place(scope)
        except HttpError as error:
            await error.response()(scope, receive, send)
            return
        await self._app(scope, receive, send)


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, started: threading.Event) -> None:
        super().__init__(config)
        self._is_up = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Says when it answers."""
        await super().startup(sockets)
        self._is_up.set()
