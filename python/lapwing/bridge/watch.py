"""Whether a lane's connection to the broker stands; the operator is told when that changes.

A lane that has nothing to do would not notice, and one that waits for messages cannot: so the bridge looks.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from lapwing.bridge.stopping import Say
from lapwing.client.counters import Counters


class Watch:
    """Of one lane: looked at by the bridge's thread, read by others.

    Args:
        rule: The lane's rule.
        url: The broker.
        counters: Of the lane's connection.
        asks: The lane wants to be told who published.
        say: Takes lines for the operator.
    """

    def __init__(self, rule: str, url: str, counters: Callable[[], Counters], say: Say, *, asks: bool = False) -> None:
        self._rule = rule
        self._url = url
        self._counters = counters
        self._say = say
        self._asks = asks
        self._is_told = True
        self._away_since = 0.0

    @property
    def is_connected(self) -> bool:
        """The connection stands, or stood when it was looked at."""
        return not self._away_since

    @property
    def away_s(self) -> float:
        """How long it has been gone, in seconds; 0 when it is not."""
        since = self._away_since
        return time.monotonic() - since if since else 0.0

    def look(self) -> None:
        """Looks, and says what has changed."""
        counters = self._counters()
        if counters.phase != "up":
            if not self._away_since:
                self._away_since = time.monotonic()
                self._say(f"rule {self._rule}: the connection to the broker at {self._url} is gone")
            return
        if self._away_since:
            away_s, self._away_since = self.away_s, 0.0
            self._say(f"rule {self._rule}: the connection to the broker is back after {away_s:.1f} s")
        if self._asks and counters.is_told != self._is_told:
            self._is_told = counters.is_told
            if self._is_told:
                self._say(f"rule {self._rule}: the broker tells again who published")
            else:
                self._say(f"rule {self._rule}: the broker does not tell who published: no client ids, no message ids")
