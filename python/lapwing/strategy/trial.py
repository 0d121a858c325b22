"""A strategy tried out without a broker: its thread, lanes and fallback are real, and so is the time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

import msgspec

from lapwing.strategy.base import Strategy

_WITHIN_S = 30.0


class TrialMember(msgspec.Struct, frozen=True):
    """A member that works on one message after the other and acknowledges each when it has finished."""

    client_id: str
    rtt_ms: float = 1.0
    """The way there and back."""
    service_ms: float = 1.0
    """Its work on one message."""
    receive_max: int = 20
    """Most messages that it may have."""


class TrialResult(msgspec.Struct, frozen=True, dict=True):
    """What came of a trial."""

    finished: list[tuple[str, float] | None]
    """By message: who finished it, and how many milliseconds after it was published; None: nobody in time."""
    counters: dict[str, int]
    """``asked``, ``answered``, ``held`` (answered with None), ``failed``, ``timed_out``, ``late``, ``unable`` (named
    somebody who was full or gone), ``overflowed``: all but the first three were decided by the fallback."""
    failures: list[str]
    """Why a whole batch failed outside of ``choose``."""

    @cached_property
    def shares(self) -> Counter[str]:
        """How many messages each member finished."""
        return Counter(one[0] for one in self.finished if one is not None)

    @cached_property
    def mean_ms(self) -> float:
        """The mean from publish to finish, of what was finished; nan if nothing was."""
        times_ms = [one[1] for one in self.finished if one is not None]
        return sum(times_ms) / len(times_ms) if times_ms else float("nan")


def try_out(
    strategy: Strategy,
    members: Sequence[TrialMember],
    *,
    messages: int = 1000,
    interval_ms: float = 0.0,
    fallback: str = "auto",
    timeout_ms: float = 5.0,
    within_s: float = _WITHIN_S,
) -> TrialResult:
    """Runs messages through one group, in real time.

    Args:
        strategy: What to try.
        members: Who is in the group.
        messages: How many there are.
        interval_ms: From one message to the next; 0: all at once.
        fallback: The strategy that decides where this one does not.
        timeout_ms: How long a message waits for an answer.
        within_s: The trial ends after this, whatever is left.
    Raises:
        ConfigError: it is no ``Strategy``.
        ValueError: no such fallback.
    """
    from lapwing import _core
    from lapwing.strategy.chooser import Chooser

    rows = [(one.client_id, one.receive_max, round(one.rtt_ms * 1000), round(one.service_ms * 1000)) for one in members]
    times = (round(timeout_ms * 1000), messages, round(interval_ms * 1000), round(within_s * 1e6))
    finished, counters, failures = _core.try_strategy(Chooser(strategy), rows, fallback, *times)
    named = [None if one is None else (members[one[0]].client_id, one[1] / 1000) for one in finished]
    return TrialResult(named, counters, failures)
