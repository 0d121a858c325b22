"""Tells the broker how far a query is, under the name of its reader: the broker warns before retention overtakes it."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping

from lapwing.errors import LapwingError
from lapwing.pipeline.source.client import StreamClient, StreamState

_LOG = logging.getLogger(__name__)
_AGAIN_S = 60.0
"""So often a position that stays is told again: the broker may have forgotten it, or the name for want of room."""


class NamedReader:
    """The one of a query. Its driver tells, not its tasks: they run side by side, and a batch may have to run again.

    Args:
        name: The reader's; empty: nothing is told.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._told: dict[int, int] = {}
        self._told_all_at = float("-inf")
        self._failure = ""

    def tell(self, client: StreamClient, done: Mapping[int, int], state: StreamState) -> None:
        """Says what is done, to be called before each batch; costs nothing where that has been said.

        A failure is a line of the log, once until it works again or is another: a query is not stopped for an alarm.

        Args:
            client: Of the query's stream.
            done: Per partition the offset below which everything is written.
            state: What the stream holds; messages that it has no longer are nobody's to read.
        """
        if not self._name:
            return
        now = time.monotonic()
        if now - self._told_all_at >= _AGAIN_S:
            self._told.clear()
            self._told_all_at = now
        try:
            for partition, held in state.partitions.items():
                at = max(done.get(partition, 0), held.first_offset)
                if self._told.get(partition) != at:
                    client.tell(self._name, partition, at)
                    self._told[partition] = at
            self._failure = ""
        except LapwingError as error:
            self._log(str(error))

    def _log(self, failure: str) -> None:
        if failure != self._failure:
            what = "the broker was not told how far reader %s is, so its alarm may be missing or wrong: %s"
            _LOG.warning(what, self._name, failure)
        self._failure = failure
