"""The base class of strategies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from lapwing.strategy.asks import Ask, Member


class Strategy(ABC):
    """Derive from it, override ``choose``, name the class in ``use`` of a group's table.

    One object serves all groups that name the class; its methods are called by one thread, one after the other.
    """

    @abstractmethod
    def choose(self, asks: Sequence[Ask]) -> Sequence[Member | str | None]:
        """Says for each message who gets it.

        Args:
            asks: Messages in the order in which they will be sent, perhaps of several groups; at least one.
        Returns:
            For each, in the same order: a member of ``ask.members``, a client id of one, or None: nobody for now, ask
            again after ``timeout``. An answer that names nobody of ``ask.members`` is as if none had been given.
        """
