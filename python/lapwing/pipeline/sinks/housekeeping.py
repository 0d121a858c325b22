"""Fewer files in a table, and none that nobody needs; whoever reads or writes it meanwhile goes on."""

from __future__ import annotations

from pathlib import Path

from deltalake import DeltaTable

from lapwing.pipeline.sinks.doors import for_data
from lapwing.pipeline.sinks.layout import file_bytes, table_bytes

_KEPT_HOURS = 1
"""Files that no version needs any more stay that long, for those who are reading them."""


def compact(table: DeltaTable, folder: Path, *, is_aggregate: bool) -> None:
    """Makes few files of many in ``table``, which lies at ``folder``; those of an aggregate stay as small as `rewrite`
    makes them."""
    size = file_bytes(table_bytes(table)) if is_aggregate else None
    with for_data(table, folder) as (within, hooks):
        within.optimize.compact(target_size=size, post_commithook_properties=hooks)


def vacuum(table: DeltaTable, folder: Path) -> None:
    """Deletes the files of ``table``, which lies at ``folder``, that no version of the last hour needs."""
    with for_data(table, folder) as (within, hooks):
        within.vacuum(_KEPT_HOURS, dry_run=False, enforce_retention_duration=False, post_commithook_properties=hooks)
