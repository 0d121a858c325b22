"""Says in the log what nobody sees otherwise: that nothing is decided, and what was not taken."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping

LOG = logging.getLogger("lapwing.controller")

SECOND_US = 1_000_000
_LINE_EVERY_US = 60 * SECOND_US
"""Between two lines about what was not taken."""


class Watch:
    """Used under the desk's lock; says a thing once, not once a second.

    Args:
        behind_s: See `Policy`; after so long without a batch it says so.
        troubles: What was not taken since the start, by name.
        now_us: The steady clock.
    """

    def __init__(self, behind_s: float, troubles: Callable[[], Mapping[str, int]], now_us: Callable[[], int]) -> None:
        self._behind_s, self._troubles, self._now_us = behind_s, troubles, now_us
        self._batch_us = now_us()
        self._said: Mapping[str, int] = {}
        self._said_us = 0
        self._is_behind = self._is_silent = False

    def came(self) -> None:
        """A batch has come."""
        self._batch_us, self._is_silent = self._now_us(), False

    def is_behind(self, late_us: int) -> bool:
        """Whether a batch whose newest reading is so old must not decide."""
        behind = late_us > self._behind_s * SECOND_US
        if behind and not self._is_behind:
            LOG.warning(
                "nothing is decided: the newest reading with a place is %d s old, behind_s is %g",
                late_us // SECOND_US,
                self._behind_s,
            )
        self._is_behind = behind
        return behind

    def look(self, devices: int) -> None:
        """The clock has moved; ``devices`` could be told something."""
        now_us = self._now_us()
        quiet_us = now_us - self._batch_us
        if devices and not self._is_silent and quiet_us > self._behind_s * SECOND_US:
            self._is_silent = True
            LOG.warning(
                "nothing is decided, and no command that failed goes to another device: no reading has come for %d s",
                quiet_us // SECOND_US,
            )
        troubles = dict(self._troubles())
        if troubles != self._said and now_us - self._said_us >= _LINE_EVERY_US and any(troubles.values()):
            counted = ", ".join(f"{name} {count}" for name, count in troubles.items() if count)
            LOG.warning("not taken since the start: %s", counted)
            self._said, self._said_us = troubles, now_us
