"""Fewer files in a table, and none that nobody needs; whoever reads or writes it meanwhile goes on."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deltalake import DeltaTable

from lapwing.pipeline.sinks.doors import for_data
from lapwing.pipeline.sinks.layout import file_bytes, table_bytes

_KEPT_HOURS = 1
"""Files that no version needs any more stay that long, for those who are reading them."""
_LOCK = ".lapwing-compaction"
"""Held by who compacts the table in whose folder it lies; VACUUM leaves names with a dot alone."""


def compact(table: DeltaTable, folder: Path, *, is_aggregate: bool) -> None:
    """Makes few files of many in ``table``, which lies at ``folder``; those of an aggregate stay as small as `rewrite`
    makes them.

    Nothing where another of us does the same at this moment: delta-rs lets two compactions of the same files be,
    whatever it is told of retries, and each row would be there twice.
    """
    with _alone(folder) as alone:
        if alone:
            table.update_incremental()  # one that has just ended is not made again
            size = file_bytes(table_bytes(table)) if is_aggregate else None
            with for_data(table, folder) as (within, hooks):
                within.optimize.compact(target_size=size, post_commithook_properties=hooks)


@contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """Whether nobody else of us compacts the table meanwhile."""
    with (folder / _LOCK).open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


def vacuum(table: DeltaTable, folder: Path) -> None:
    """Deletes the files of ``table``, which lies at ``folder``, that no version of the last hour needs."""
    with for_data(table, folder) as (within, hooks):
        within.vacuum(_KEPT_HOURS, dry_run=False, enforce_retention_duration=False, post_commithook_properties=hooks)
