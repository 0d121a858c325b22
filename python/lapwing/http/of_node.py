"""Asks the node, beside the loop that answers requests."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import anyio

from lapwing._core import CoreError
from lapwing.http.errors import http_error_of_core

_Answer = TypeVar("_Answer")


async def of_node(ask: Callable[[], _Answer]) -> _Answer:
    """What ``ask`` returns, called in a thread that may wait.

    Raises:
        HttpError: The node refuses; see `http_error_of_core`.
    """
    try:
        return await anyio.to_thread.run_sync(ask)
    except CoreError as error:
        raise http_error_of_core(error) from error
