"""uvicorn's server, which counts what the kernel does not give it, and has a line for it."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import uvicorn

from lapwing.http.counters import HttpCounters


class AcceptingServer(uvicorn.Server):
    """asyncio rests for a second where a connection cannot be accepted, and says so to its loop's handler alone."""

    def __init__(self, config: uvicorn.Config, counters: HttpCounters) -> None:
        super().__init__(config)
        self._counters = counters

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Listens until it is told to end."""
        asyncio.get_running_loop().set_exception_handler(self._tell)
        await super().serve(sockets)

    def _tell(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, OSError) and context["message"].startswith("socket.accept()"):
            self._counters.not_accepted(error)
        else:
            loop.default_exception_handler(context)
