"""The body of a request: one JSON object, bounded in bytes and in time."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import anyio
from starlette.requests import ClientDisconnect, Request

from lapwing.http_listener.http_error import HttpError

BODY_BYTES_MAX = 1 << 20
_LET_GO_BYTES_MAX, _LET_GO_PAUSE_S = 8 * BODY_BYTES_MAX, 1.0
"""Of a body that is too large so much is taken and let go, while it comes: whoever sends all of it before looking for
an answer would find the connection reset, and no answer."""
_NESTED = "JSON of one object, as in {}"


async def json_object(request: Request, *, timeout_s: float) -> dict[str, Any]:
    """The object in the request's body.

    Raises:
        HttpError: 413 too large, 408 not whole in time, 400 no JSON object.
    """
    raw = await _whole(request, timeout_s)
    try:
        document = json.loads(raw)
    except (ValueError, RecursionError) as error:
        # Not the text itself: it may be long, and it is not ours to repeat.
        what = error.msg if isinstance(error, json.JSONDecodeError) else "it cannot be read"
        raise HttpError(400, "bad_body", f"the body is not JSON: {what}", f"send {_NESTED}") from error
    if not isinstance(document, dict):
        raise HttpError(400, "bad_body", "the body is not a JSON object", f"send {_NESTED}")
    return document


async def _whole(request: Request, timeout_s: float) -> bytes:
    announced, stream, pieces = _announced(request), request.stream(), bytearray()
    try:
        with anyio.fail_after(timeout_s):
            if announced <= BODY_BYTES_MAX:
                async for piece in stream:
                    pieces += piece
                    if len(pieces) > BODY_BYTES_MAX:
                        break
                else:
                    return bytes(pieces)
    except TimeoutError as error:
        what = f"the body was not whole within {timeout_s:g} s"
        raise _close(408, "body_late", what, "send it at once, or raise http.keep_alive") from error
    except ClientDisconnect as error:
        raise _close(400, "bad_body", "the connection was closed within the body", "send it whole") from error
    if announced <= _LET_GO_BYTES_MAX:
        with anyio.move_on_after(timeout_s):
            await _let_go(stream)
    raise _too_large()


async def _let_go(stream: AsyncIterator[bytes]) -> None:
    taken = 0
    with suppress(ClientDisconnect, StopAsyncIteration):
        while taken <= _LET_GO_BYTES_MAX:
            with anyio.move_on_after(_LET_GO_PAUSE_S) as pause:
                taken += len(await anext(stream))
            if pause.cancelled_caught:
                return


def _announced(request: Request) -> int:
    # What is no number h11 has refused; where there is none, the bytes are counted as they come.
    return int(request.headers.get("content-length", "0"))


def _too_large() -> HttpError:
    return _close(413, "body_too_large", f"the body has more than {BODY_BYTES_MAX} bytes", "send less")


def _close(status: int, code: str, message: str, remedy: str) -> HttpError:
    # What is left of the body would be taken for the next request.
    return HttpError(status, code, message, remedy, headers={"Connection": "close"})
