"""When a swarm over several processes is over: what one process alone cannot know."""

from __future__ import annotations

from collections.abc import Mapping

_HEARD = ("delivered", "answered", "sent")


class EndWatch:
    """Decides the end of a run from the sums of what its processes have counted, as the core does for one process.

    Args:
        drain_s: Silence after the last message after which what is missing counts as lost, in seconds.
        sleep_s: How long subscribers sleep at a time; everybody has slept and awoken once more before the end.
    """

    def __init__(self, drain_s: float, sleep_s: float = 0.0) -> None:
        self._silence_s = drain_s + 2 * sleep_s
        self._heard: tuple[int, ...] = ()
        self._since_s = 0.0

    def is_over(self, counts: Mapping[str, int], now_s: float) -> bool:
        """True when all has arrived and been answered and who sleeps does, or nothing has for the drain time.

        Args:
            counts: The sums; each process's share may be a moment old, since they only grow while it publishes.
            now_s: A monotonic clock, in seconds.
        """
        heard = tuple(counts[name] for name in _HEARD)
        if counts["publishing"] or heard != self._heard:
            self._heard, self._since_s = heard, now_s
        if counts["publishing"]:
            return False
        return _has_all(counts) or now_s - self._since_s >= self._silence_s


def _has_all(counts: Mapping[str, int]) -> bool:
    has_arrived = counts["delivered"] >= counts["expected"] and counts["answered"] >= counts["owed"]
    return has_arrived and not counts["waiting"] and not counts["awake"]
