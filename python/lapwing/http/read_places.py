"""Who may read a stream now: so many reads in all, and so many of one identity.

An identity that reads slowly, or again and again, leaves some of ``http.reads_max`` to the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lapwing.http.caller import Caller, Standing
from lapwing.http.counters import HttpCounters
from lapwing.http_listener.http_error import HttpError

if TYPE_CHECKING:
    from lapwing.config import HttpSection


class ReadPlaces:
    """Those of one listener; used by the event loop's thread only.

    Args:
        settings: How many there are.
        counters: Where refusals are counted.
        has_memory: Whether the broker has some to spare.
    """

    def __init__(self, settings: HttpSection, counters: HttpCounters, has_memory: Callable[[], bool]) -> None:
        self._settings = settings
        self._counters = counters
        self._has_memory = has_memory
        self._held: Counter[str | None] = Counter()

    @contextmanager
    def hold(self, caller: Caller) -> Iterator[None]:
        """One of them; the body of a read lies in memory as long as it is held.

        Raises:
            HttpError: 503: all are taken, or all of this caller's; or memory is above its mark.
        """
        refusal = self._refusal(caller)
        if refusal is not None:
            self._counters.add("lapwing_http_reads_refused_total")
            raise refusal
        self._held[caller.name] += 1
        try:
            yield
        finally:
            self._held[caller.name] -= 1
            if not self._held[caller.name]:
                del self._held[caller.name]

    def _refusal(self, caller: Caller) -> HttpError | None:
        running, own = self._held.total(), self._held[caller.name]
        if running >= self._settings.reads_max:
            return _too_many(f"{running} stream reads are running", "reads_max", self._settings.reads_max)
        # Where everybody may everything nobody has a name to be told apart by.
        if own >= self._settings.reads_per_identity_max and caller.standing is not Standing.OPEN:
            message = f"{own} stream reads of this identity are running"
            return _too_many(message, "reads_per_identity_max", self._settings.reads_per_identity_max)
        if not self._has_memory():
            what = "the broker has no memory to spare for stream reads"
            remedy = "try again after Retry-After, or raise limits.memory_high_bytes"
            return HttpError(503, "memory_high", what, remedy, headers={"Retry-After": "1"})
        return None


def _too_many(message: str, setting: str, most: int) -> HttpError:
    remedy = f"try again after Retry-After, or raise http.{setting}"
    return HttpError(503, "too_many_reads", message, remedy, headers={"Retry-After": "1"}, **{setting: most})
