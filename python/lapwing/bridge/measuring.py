"""Asks Kafka now and then how far behind a lane is, for a small part of the lane's time."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping

from confluent_kafka import KafkaException

from lapwing.bridge.behind import Behind

_EVERY_S = 5.0
_ANSWER_S = 1.0
"""For one question: a Kafka that is far away, or busy, answers within it."""
_ENDS_S = 1.0
"""For the questions about partitions together: those that are left come first the next time."""
_REST = 10.0
"""It rests for so many times what it took: the lane does nothing else meanwhile, whether Kafka is slow or away."""

Marks = Callable[[int, float], tuple[int, int]]
"""The first offset of a partition, and the one behind the last; asked for so long."""
Committed = Callable[[Collection[int], float], Mapping[int, int]]
"""The offsets of the group by partition, where it has one; asked for so long."""


class Measuring:
    """For one thread.

    Args:
        behind: Is told what Kafka says.
        marks: Asks; raises ``KafkaException`` without an answer.
        committed: The same.
        now: The clock, in seconds.
    """

    def __init__(
        self, behind: Behind, marks: Marks, committed: Committed, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._behind = behind
        self._marks = marks
        self._committed = committed
        self._now = now
        self._due_at = 0.0
        self._asked_at: dict[int, float] = {}

    @property
    def is_due(self) -> bool:
        """Whether it is time."""
        return self._now() >= self._due_at

    def measure(self, assigned: Collection[int]) -> None:
        """Asks about the partitions that the lane has; of those that Kafka says nothing about, what is known stands."""
        began = self._now()
        self._behind.keep(assigned)
        try:
            self._ask_for_ends(assigned, began + _ENDS_S)
            if assigned:
                self._behind.done(self._committed(assigned, _ANSWER_S))
        except KafkaException:
            pass  # away, or slower than it may be
        ended = self._now()
        self._due_at = ended + max(_EVERY_S, _REST * (ended - began))

    def _ask_for_ends(self, partitions: Collection[int], until: float) -> None:
        for partition in sorted(partitions, key=lambda each: self._asked_at.get(each, 0.0)):
            if (now := self._now()) >= until:
                return
            self._asked_at[partition] = now
            self._behind.ends({partition: self._marks(partition, _ANSWER_S)[1]})
