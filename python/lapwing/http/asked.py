"""Questions to the node about who somebody is: each in a thread that waits, so few at a time, few of one address."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import anyio

from lapwing.http.errors import HttpError
from lapwing.http.peer import network_of

THREADS_MAX = 32
THREADS_PER_ADDRESS_MAX = 8
WAITING_MAX = 256
WAITING_PER_ADDRESS_MAX = 64

Answer = TypeVar("Answer")


class Asked:
    """Used by the event loop's thread only. One address with slow answers leaves threads to the others."""

    def __init__(self) -> None:
        self._count = 0
        self._threads: anyio.CapacityLimiter | None = None
        self._by_address: dict[str, _Line] = {}

    async def ask(self, address: str, question: Callable[[], Answer]) -> Answer:
        """What ``question`` answers in a thread.

        Raises:
            HttpError: 503, too many wait.
        """
        network = network_of(address)
        line = self._by_address.get(network)
        if self._count >= WAITING_MAX or (line is not None and line.count >= WAITING_PER_ADDRESS_MAX):
            message = "too many credentials are being verified"
            raise HttpError(503, "busy", message, "try again after Retry-After", headers={"Retry-After": "1"})
        # Made in the event loop, which is not running yet when the application is put together.
        self._threads = self._threads or anyio.CapacityLimiter(THREADS_MAX)
        line = self._by_address.setdefault(network, line or _Line())
        self._count += 1
        line.count += 1
        try:
            async with line.threads:
                return await anyio.to_thread.run_sync(question, limiter=self._threads)
        finally:
            self._count -= 1
            line.count -= 1
            if line.count == 0:
                del self._by_address[network]


class _Line:
    """Those of one address."""

    def __init__(self) -> None:
        self.count = 0
        self.threads = anyio.CapacityLimiter(THREADS_PER_ADDRESS_MAX)
