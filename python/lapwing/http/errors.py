"""What became of errors of the node, of routing and of ours: an `HttpError` each."""

from __future__ import annotations

import logging

from starlette.exceptions import HTTPException
from starlette.requests import Request

from lapwing.errors import CoreFailure
from lapwing.http.counters import HttpCounters
from lapwing.http_listener.http_error import HttpError
from lapwing.json_answer import JsonAnswer

_log = logging.getLogger(__name__)
_STATUS_OF_CORE = {
    "stream_unknown": 404,
    "partition_unknown": 404,
    "offset_trimmed": 410,
    "offset_ahead": 416,
    "reader": 400,
    "reader_taken": 403,
    "config": 400,
    "state": 503,
    "standby": 503,
    "no_successor": 409,
    "not_leader": 409,
    "not_taken": 409,
    "no_authority": 409,
    "no_answer": 503,
    "too_many_changes": 503,
}


def unauthenticated(message: str) -> HttpError:
    """401, with the ways in which a client can say who it is."""
    challenge = 'Basic realm="lapwing", charset="UTF-8", Bearer realm="lapwing"'
    remedy = "send a user's name and password (Basic) or a token (Bearer)"
    return HttpError(401, "unauthenticated", message, remedy, headers={"WWW-Authenticate": challenge})


def http_error_of_core(error: CoreFailure) -> HttpError:
    """The answer for an error of the Rust side; what is not the caller's fault is 500."""
    status = _STATUS_OF_CORE.get(error.code, 500)
    return HttpError(status, error.code, error.message, error.remedy, headers=None, **error.evidence)


async def answer_http_error(counters: HttpCounters, _request: Request, error: Exception) -> JsonAnswer:
    """Starlette's handler for ``HttpError``; what a route refuses for want of a right is counted."""
    assert isinstance(error, HttpError)
    if error.status in (401, 403):
        reason = "forbidden" if error.status == 403 else "unauthenticated"
        counters.add("lapwing_http_refused_total", reason=reason)
    return error.response()


async def answer_routing_error(request: Request, error: Exception) -> JsonAnswer:
    """Starlette's handler for what its router refuses: unknown path, wrong method."""
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        return HttpError(
            405,
            "method_not_allowed",
            f"{request.method} is not allowed here",
            f"use {(error.headers or {}).get('Allow', 'GET, HEAD')}",
            headers=dict(error.headers or {}),
        ).response()
    return HttpError(
        error.status_code,
        "not_found",
        f"no such path: {request.url.path}",
        "known: /v1/streams, /v1/streams/NAME, /v1/streams/NAME/PARTITION, /v1/streams/NAME/readers/READER,"
        " /v1/groups, /v1/groups/NAME, /v1/sessions, /v1/sessions/CLIENT, /v1/queues,"
        " /v1/queues/CLIENT, /v1/clients, /v1/clients/CLIENT, /v1/cluster, /healthz, /readyz, /metrics",
    ).response()


async def answer_defect(_request: Request, error: Exception) -> JsonAnswer:
    """Starlette's handler for what nobody expected."""
    _log.error("a defect in the HTTP side", exc_info=error)
    what = f"a defect in the broker: {type(error).__name__}"
    return HttpError(500, "defect", what, "report it with the broker's log").response()
