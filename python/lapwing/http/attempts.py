"""Failed attempts per address: guessing passwords is slow, and costs only the guesser.

A bucket per address (`lapwing.http_listener.peer`) that fills again over a minute. At most
``ADDRESSES_MAX`` are remembered; the one that has not failed for longest makes room.
"""

from __future__ import annotations

import time
from collections import OrderedDict

from lapwing.http_listener.peer import network_of

ADDRESSES_MAX = 4096
WINDOW_S = 60.0


class FailedAttempts:
    """Counts failures; used by one thread.

    Args:
        failures_max: Failures of one address within a minute; after that its credentials are not looked at.
    """

    def __init__(self, failures_max: int) -> None:
        self._max = failures_max
        self._failures: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allowed(self, address: str) -> bool:
        """Whether credentials from ``address`` are looked at."""
        return self._count(network_of(address), time.monotonic()) <= self._max - 1

    def failed(self, address: str) -> None:
        """Counts a failure."""
        network, now = network_of(address), time.monotonic()
        self._failures[network] = self._count(network, now) + 1, now
        self._failures.move_to_end(network)
        while len(self._failures) > ADDRESSES_MAX:
            self._failures.popitem(last=False)

    def _count(self, network: str, now: float) -> float:
        """Failures that still count: they drain evenly over the window."""
        count, at = self._failures.get(network, (0.0, now))
        return max(0.0, count - (now - at) * self._max / WINDOW_S)
