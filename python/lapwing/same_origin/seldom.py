"""Lines for the log that strangers cause: at a bounded rate, so that nobody fills a disk or hides another line."""

from __future__ import annotations

import logging
import time

INTERVAL_S = 60.0


class Seldom:
    """One line of a kind within `INTERVAL_S`; the next says how many were left out. Used by one thread.

    Args:
        log: Where the lines go, as warnings.
    """

    def __init__(self, log: logging.Logger) -> None:
        self._log = log
        self._kinds: dict[str, tuple[float, int]] = {}

    def tell(self, kind: str, line: str) -> None:
        """Tells ``line``, or counts it as left out. Kinds are few, and not for a stranger to choose."""
        now = time.monotonic()
        until, left_out = self._kinds.get(kind, (0.0, 0))
        if now < until:
            self._kinds[kind] = until, left_out + 1
            return
        self._kinds[kind] = now + INTERVAL_S, 0
        self._log.warning("%s%s", line, f" (and {left_out} more like it before)" if left_out else "")
