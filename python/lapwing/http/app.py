"""The routes, put together."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import anyio
from starlette.applications import Starlette
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from lapwing._core import CoreError
from lapwing.http.audited import Audited
from lapwing.http.bans import Bans
from lapwing.http.caller import caller_of
from lapwing.http.cluster import Cluster
from lapwing.http.counters import HttpCounters
from lapwing.http.errors import answer_defect, answer_http_error, answer_routing_error
from lapwing.http.gate import Gate
from lapwing.http.groups import Groups
from lapwing.http.guard import Guard
from lapwing.http.identify import Identifier
from lapwing.http.read import ReadEndpoint
from lapwing.http.sessions import Sessions
from lapwing.http.streams import Streams
from lapwing.http.told import Told
from lapwing.http_listener.http_error import HttpError
from lapwing.json_answer import JsonAnswer
from lapwing.same_origin import HostCheck, HostNames

if TYPE_CHECKING:
    from lapwing._core import Node
    from lapwing.config import HttpSection

PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
_READY_THREADS = 2
_NAMES_HELP = (
    'use the address the broker listens at, or add the name to http.hosts, as in http.hosts = ["broker.example"]'
)


class ClientId(Convertor[str]):
    """The rest of a path, whatever is in it: with a line feed in its id nobody keeps out of an operator's reach."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        """As it is."""
        return value

    def to_string(self, value: str) -> str:
        """As it is."""
        return value


register_url_convertor("client_id", ClientId())


def make_app(
    node: Node, settings: HttpSection, counters: HttpCounters, identifier: Identifier, names: HostNames
) -> ASGIApp:
    """The application for one node; ``identifier`` tells who sent a request, ``names`` what the listener is called."""
    routes = routes_of(node, settings, counters)
    app = Starlette(
        routes=routes,
        middleware=[
            Middleware(Told, refusals=counters.refusals),
            Middleware(Guard, counters=counters, routes=routes),
            Middleware(Gate, identifier=identifier),
        ],
        exception_handlers={
            HttpError: partial(answer_http_error, counters),
            HTTPException: answer_routing_error,
            Exception: answer_defect,
        },
    )
    app.router.redirect_slashes = False
    # Around the whole of it: also what answers a defect.
    checked = HostCheck(app, names, remedy=_NAMES_HELP, refused=counters.refused_at_the_door)
    return Audited(checked, write=node.audit) if node.is_audited() else checked


def routes_of(node: Node, settings: HttpSection, counters: HttpCounters) -> list[Route]:
    """Everything that there is to ask for; each but health asks the caller's rights itself."""
    streams = Streams(node)
    groups = Groups(node, body_timeout_s=settings.keep_alive / 1000)
    sessions = Sessions(node)
    bans = Bans(node)
    cluster = Cluster(node)
    health = Health(node, counters)
    return [
        Route("/v1/streams", streams.index),
        Route("/v1/streams/{name}", streams.info),
        Route(
            "/v1/streams/{name}/{partition}",
            ReadEndpoint(node, streams, settings, counters),
            methods=["GET"],
        ),
        Route("/v1/streams/{name}/readers/{reader}", streams.forget, methods=["DELETE"]),
        Route("/v1/groups", groups.index),
        Route("/v1/groups/{name}", groups.one, methods=["GET", "PUT", "DELETE"]),
        # The rest of the path is a client id, and may have slashes in it.
        Route("/v1/sessions", sessions.index),
        Route("/v1/sessions/{client:client_id}", sessions.one, methods=["GET", "DELETE"]),
        Route("/v1/clients", sessions.clients),
        Route("/v1/clients/{client:client_id}", sessions.client, methods=["GET", "DELETE"]),
        Route("/v1/queues", sessions.queues),
        Route("/v1/queues/{client:client_id}", sessions.queue, methods=["GET", "DELETE"]),
        # An address may have a slash in it, and a user name anything.
        Route("/v1/bans", bans.index),
        Route("/v1/bans/{who:client_id}", bans.lift, methods=["DELETE"]),
        Route("/v1/cluster", cluster.index),
        Route("/v1/cluster/step-down", cluster.step_down, methods=["POST"]),
        Route("/v1/cluster/tokens", cluster.token, methods=["POST"]),
        Route("/v1/cluster/nodes/{node}", cluster.remove, methods=["DELETE"]),
        Route("/healthz", health.alive),
        Route("/readyz", health.ready),
        Route("/metrics", health.metrics),
    ]


class Health:
    """Is the process alive, does the node take messages, and what has it counted."""

    def __init__(self, node: Node, counters: HttpCounters) -> None:
        self._node = node
        self._counters = counters
        self._threads: anyio.CapacityLimiter | None = None

    async def alive(self, _request: Request) -> Response:
        """``GET /healthz``: 200 while this process answers, whatever the node does."""
        return JsonAnswer({"status": "alive"})

    async def ready(self, _request: Request) -> Response:
        """``GET /readyz``: 200 while the node accepts connections and can acknowledge what they bring, else 503."""
        # Made in the event loop, which is not running yet when the application is put together. Those that all the
        # other requests share may each wait for the node, and who starts and watches processes would wait behind them.
        self._threads = self._threads or anyio.CapacityLimiter(_READY_THREADS)
        if not await anyio.to_thread.run_sync(self._node.ready, limiter=self._threads):
            standing_by = await anyio.to_thread.run_sync(self._node.hindrance, limiter=self._threads)
            if standing_by is not None and standing_by[0] == "standby":
                raise HttpError(503, *standing_by)
            raise HttpError(503, "not_ready", "the broker does not accept connections", "wait, or see the broker's log")
        if hindrance := await anyio.to_thread.run_sync(self._node.hindrance, limiter=self._threads):
            raise HttpError(503, *hindrance)
        return JsonAnswer({"status": "ready"})

    async def metrics(self, request: Request) -> Response:
        """``GET /metrics``: the node's counters and those of this side; they name streams, so rights are needed."""
        caller_of(request.scope).need_to_see_figures()
        try:
            text = await anyio.to_thread.run_sync(self._node.metrics_text)
        except CoreError as error:
            raise HttpError(503, "not_ready", error.message, error.remedy) from error
        return PlainTextResponse(text + self._counters.text(), media_type=PROMETHEUS)
