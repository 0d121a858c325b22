"""When a query rests: its trigger looks for news however quiet it is, and one request that is held back costs less."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from lapwing.pipeline.source.job_source import News

REST_S_MAX = 600.0
"""A query starts again after so long even if nothing comes: partitions may have been added, the topic deleted."""
_LOOK_S = 1.0


class Rest:
    """Of one job.

    Args:
        after_s: Without news for so long a query rests; 0: never.
        trigger_s: A query whose trigger is longer than ``after_s`` gains nothing; None: it ends by itself.
        clock: Seconds; for tests.
    """

    def __init__(self, *, after_s: float, trigger_s: float | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._after_s = after_s if trigger_s is not None and trigger_s < after_s else 0.0
        self._clock = clock
        self._stirred = clock()
        self._resting = threading.Event()

    def stir(self) -> None:
        """Something has come, or is being looked for."""
        self._stirred = self._clock()

    @property
    def is_due(self) -> bool:
        """Whether nothing has come for long enough."""
        return 0 < self._after_s <= self._clock() - self._stirred

    @property
    def is_on(self) -> bool:
        """Whether no query runs, as nothing is to be read."""
        return self._resting.is_set()

    def begin(self) -> None:
        """From now on no batch may begin."""
        self._resting.set()

    def wait(self, news: News, stopped: Callable[[], bool]) -> None:
        """Waits until something comes, the job is stopped, or it has been long enough."""
        until = self._clock() + REST_S_MAX
        while self._clock() < until and not stopped():
            if news.come(_LOOK_S):
                return

    def end(self) -> None:
        """A query may run again."""
        self._resting.clear()
        self.stir()
