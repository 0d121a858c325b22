"""A table of which only the latest rows count: the whole of it is kept in memory, and what is old is let go.

The controller asks for all of ``places`` and ``whereabouts`` in each batch. One job at a time writes them (its folder's
lock), so what it has read once, and merged since, is what they hold. Without an end a fleet that changes its names, or
moves on, would make each batch dearer than the one before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lapwing.contracts.fields import Record
from lapwing.pipeline.errors import ConflictError
from lapwing.pipeline.sinks.delta import DeltaSink
from lapwing.pipeline.transforms.groups import ints, touched

ROWS_MAX = 1_000_000
"""Beyond them the oldest go first; some 200 bytes each in memory."""
_SLACK_ROWS = 1_000
"""The files are written anew when they have so many rows more than twice what counts: not in every batch."""
_SECOND_US = 1_000_000


class RecentTable(DeltaSink):
    """See `DeltaSink`; used from one thread at a time.

    Args:
        folder: Of the table.
        record: Its columns.
        keys: What makes a row.
        when: The column of times by which a row is old.
        kept_s: So old it is let go.
        rows_max: See `ROWS_MAX`.

    Raises:
        TableError: See `DeltaSink`.
    """

    def __init__(
        self, folder: Path, record: Record, keys: Sequence[str], *, when: str, kept_s: float, rows_max: int = ROWS_MAX
    ) -> None:
        super().__init__(folder, record, keys)
        self._when, self._kept_us, self._rows_max = when, round(kept_s * _SECOND_US), rows_max
        self._held: pa.Table | None = None
        self.surplus = 0
        """Rows that were let go before they were old, for there were too many."""

    def read(
        self,
        column: str | None = None,
        among: pa.Array | None = None,
        columns: Sequence[str] | None = None,
        where: pc.Expression | None = None,
    ) -> pa.Table:
        """See `DeltaSink.read`; from memory, but for the first time."""
        if self._held is None:
            self._held = super().read()
        rows = self._held if column is None else self._held.filter(pc.is_in(self._held[column], pc.unique(among)))
        rows = rows if where is None else rows.filter(where)
        return rows if columns is None else rows.select(list(columns))

    def merge(self, rows: pa.Table, stream_uuid: str, done: Mapping[int, int]) -> int:
        """See `DeltaSink.merge`."""
        before = self.read()
        # Read again, should the commit fail: nobody knows then what is there.
        self._held = None
        written = super().merge(rows, stream_uuid, done)
        new = rows.cast(before.schema)
        others = before.filter(pa.array(~touched(new, before, self._keys)))
        self._held = pa.concat_tables([others, new]).combine_chunks()
        return written

    def forget(self, at_us: int) -> None:
        """Lets go of rows that are old at ``at_us``, and of the oldest beyond the limit; positions stay.

        Out of memory at once. On disk in one commit, when there is more to be gained than it costs: until then a start
        reads them, and forgets them before anything is decided.
        """
        held = self.read()
        when = ints(held[self._when])
        kept = np.flatnonzero(when >= at_us - self._kept_us)
        if len(kept) > self._rows_max:
            self.surplus += len(kept) - self._rows_max
            kept = np.sort(kept[np.argsort(when[kept], kind="stable")[-self._rows_max :]])
        if len(kept) < held.num_rows:
            self._held = held.take(pa.array(kept))
        if self.rows() > 2 * len(kept) + _SLACK_ROWS:
            with suppress(ConflictError):  # another time: somebody makes few files of many
                self.replace(self.read())
                self.clean()
