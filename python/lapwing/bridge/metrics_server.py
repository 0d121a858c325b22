"""``/metrics`` and ``/healthz`` of a bridge, on loopback, for programs of this machine and for no page of the web."""

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

from lapwing.bridge.counts import Counts, prometheus_text
from lapwing.errors import AddressInUseError, BrokerError
from lapwing.host_port import split_host_port
from lapwing.json_answer import JsonAnswer
from lapwing.listening import bind_every, shown_address
from lapwing.same_origin import CROSS_SITE, MISDIRECTED, HostCheck, HostNames

_PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
_CONNECTIONS_MAX = 32
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
        self._refused = Counter({MISDIRECTED: 0, CROSS_SITE: 0})
        routes = Starlette(routes=[Route("/metrics", self._metrics), Route("/healthz", self._alive)])
        names = HostNames(split_host_port(address)[0])
        self._server = _Server(
            uvicorn.Config(
                HostCheck(routes, names, remedy=_NAMES_HELP, refused=self._count),
                http="h11",
                ws="none",
                loop="asyncio",
                lifespan="off",
                log_config=None,
                log_level="critical",
                access_log=False,
                proxy_headers=False,
                server_header=False,
                limit_concurrency=_CONNECTIONS_MAX,
                timeout_keep_alive=15,
                timeout_graceful_shutdown=_STOP_S,
            ),
            self._started,
        )
        self._thread: threading.Thread | None = None
        self.url = ""
        """``http://HOST:PORT`` with the real port, once started."""

    def start(self) -> None:
        """Listens; answers on return.

        Raises:
            AddressInUseError: another process listens there.
            BrokerError: the address cannot be listened on.
        """
        try:
            listeners = bind_every(self._address)
            for listener in listeners:
                listener.listen()
        except OSError as error:
            remedy = 'choose another bridge.metrics, as 127.0.0.1:0, or "off"'
            kind = AddressInUseError if error.errno == errno.EADDRINUSE else BrokerError
            raise kind(f"cannot listen: {error.strerror}", where=self._address, remedy=remedy) from error
        self.url = f"http://{shown_address(self._address, listeners)}"
        self._thread = threading.Thread(target=self._server.run, args=(listeners,), name="bridge-metrics", daemon=True)
        self._thread.start()
        if not self._started.wait(_START_S):
            raise BrokerError("the metrics' server did not start", where=self.url)

    def stop(self) -> None:
        """Answers nobody any more."""
        if self._thread is not None:
            self._server.should_exit = True
            self._thread.join(2 * _STOP_S)

    async def _metrics(self, _request: Request) -> Response:
        text = prometheus_text(self._all_counts()) + self._refusals()
        return PlainTextResponse(text, media_type=_PROMETHEUS)

    def _count(self, reason: str, _status: int) -> None:
        self._refused[reason] += 1

    def _refusals(self) -> str:
        name = "lapwing_bridge_http_refused_total"
        lines = [f"# HELP {name} Requests refused here, by reason.\n# TYPE {name} counter\n"]
        return "".join(lines + [f'{name}{{reason="{why}"}} {count}\n' for why, count in sorted(self._refused.items())])

    async def _alive(self, _request: Request) -> Response:
        """Alive, or which rules wait: then nothing is wrong here, and to start again would help nobody."""
        lanes = self._all_counts()
        waiting = sorted({lane.rule for lane in lanes if lane.waiting_s() > 0 or not lane.is_connected()})
        if waiting:
            return JsonAnswer({"status": "waiting", "rules": waiting}, status_code=503)
        return JsonAnswer({"status": "alive"})


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, started: threading.Event) -> None:
        super().__init__(config)
        self._is_up = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Says when it answers."""
        await super().startup(sockets)
        self._is_up.set()
