"""Two clocks: the wall clock, which people set, and one that goes on as time passes."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

LOG = logging.getLogger("lapwing.controller")

SECOND_US = 1_000_000
_STEP_US = SECOND_US
"""The wall clock was set where it has moved by more than this against the other; what is less is not looked at."""


class Clock:
    """The wall clock says when something was; the steady clock says for how long something has been waited for.

    Both show the same until somebody sets the wall clock. A deadline by the wall clock would be an hour later where
    that is set back by one, and long over where it is set forward.

    Args:
        wall_us: Microseconds since the epoch, as people have them.
        passed_us: Microseconds since any moment; nobody sets it.
    """

    def __init__(
        self,
        wall_us: Callable[[], int] = lambda: time.time_ns() // 1000,
        passed_us: Callable[[], int] = lambda: _passed_us(),
    ) -> None:
        self._wall_us, self._passed_us = wall_us, passed_us
        self._start_us = wall_us() - passed_us()
        self._set_back_us = 0

    def wall_us(self) -> int:
        """Microseconds since the epoch."""
        return self._wall_us()

    def steady_us(self) -> int:
        """Microseconds since the epoch, had nobody set the wall clock since the start."""
        return self._wall_us() + self.set_back_us()

    def set_back_us(self) -> int:
        """By how much the wall clock was set back since the start; below 0: forward."""
        set_back_us = self._start_us + self._passed_us() - self._wall_us()
        moved_us = set_back_us - self._set_back_us
        # Two clocks are not read at one moment: only a step counts, and where there was none both are the same.
        if abs(moved_us) > _STEP_US:
            self._set_back_us = set_back_us
            LOG.warning(
                "the clock was set %s by %d s: what is waited for goes by the time that has passed",
                "back" if moved_us > 0 else "forward",
                round(abs(moved_us) / SECOND_US),
            )
        return self._set_back_us


def _passed_us() -> int:
    # A machine that sleeps lets time pass, and its wall clock says so.
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime_ns(clock) // 1000
