"""Failures of a query that pass: it is begun again, so often.

Spark waits ten seconds for each Python it starts, and no setting changes that. On a machine that is busy for so long
the query ends, although nothing is wrong; what it had not written is read again, like after a kill.
"""

from __future__ import annotations

import logging

LOG = logging.getLogger("lapwing.pipeline")
TRIES = 3
_PASSES = ("Python worker failed to connect back",)


class Patience:
    """How often in a row a query may be begun again; ``where`` is for the log."""

    def __init__(self, where: str, tries: int = TRIES) -> None:
        self._where, self._tries = where, tries
        self._left = tries

    def allows(self, failure: BaseException | None) -> bool:
        """Whether to begin again after this failure; says so in the log."""
        passing = next((words for words in _PASSES if words in str(failure)), None)
        if passing is None or not self._left:
            return False
        self._left -= 1
        LOG.warning("%s: the query begins again, as Spark says: %s", self._where, passing)
        return True

    def renew(self) -> None:
        """A batch is done: from now on it may fail as often again."""
        self._left = self._tries
