"""``/metrics`` and ``/healthz`` of a bridge, on loopback."""

from __future__ import annotations

import errno
import socket
import threading
from collections.abc import Callable, Iterable

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from lapwing.bridge.counts import Counts, prometheus_text
from lapwing.errors import AddressInUseError, BrokerError
from lapwing.host_port import join_host_port, split_host_port

_PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
_CONNECTIONS_MAX = 32
_START_S = 10.0
_STOP_S = 5


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
        app = Starlette(routes=[Route("/metrics", self._metrics), Route("/healthz", self._alive)])
        self._server = _Server(
            uvicorn.Config(
                app,
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
        host, port = split_host_port(self._address)
        try:
            listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        except OSError as error:
            remedy = 'choose another bridge.metrics, as 127.0.0.1:0, or "off"'
            kind = AddressInUseError if error.errno == errno.EADDRINUSE else BrokerError
            raise kind(f"cannot listen: {error.strerror}", where=self._address, remedy=remedy) from error
        self.url = f"http://{join_host_port(*listener.getsockname()[:2])}"
        self._thread = threading.Thread(target=self._server.run, args=([listener],), name="bridge-metrics", daemon=True)
        self._thread.start()
        if not self._started.wait(_START_S):
            raise BrokerError("the metrics' server did not start", where=self.url)

    def stop(self) -> None:
        """Answers nobody any more."""
        if self._thread is not None:
            self._server.should_exit = True
            self._thread.join(2 * _STOP_S)

    async def _metrics(self, _request: Request) -> Response:
        return PlainTextResponse(prometheus_text(self._all_counts()), media_type=_PROMETHEUS)

    async def _alive(self, _request: Request) -> Response:
        """Alive, or which rules wait: then nothing is wrong here, and to start again would help nobody."""
        lanes = self._all_counts()
        waiting = sorted({lane.rule for lane in lanes if lane.waiting_s() > 0 or not lane.is_connected()})
        if waiting:
            return JSONResponse({"status": "waiting", "rules": waiting}, status_code=503)
        return JSONResponse({"status": "alive"})


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, started: threading.Event) -> None:
        super().__init__(config)
        self._is_up = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Says when it answers."""
        await super().startup(sockets)
        self._is_up.set()
