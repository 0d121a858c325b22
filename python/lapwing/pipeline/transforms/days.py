"""The day of a row: what tables that grow are partitioned by."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

DAY = "day"


def days(rows: pa.Table) -> pa.ChunkedArray:
    """Per row the day (UTC) on which the broker took it in, as ``2026-03-01``; else that of the batch."""
    return pc.strftime(pc.coalesce(rows["ingress_at"], rows["observed_at"]), format="%Y-%m-%d")


def by_day(rows: pa.Table) -> list[tuple[str | None, pa.Table]]:
    """The rows of each day, without the column."""
    parts = []
    for day in pc.unique(rows[DAY]).to_pylist():
        same = pc.is_null(rows[DAY]) if day is None else pc.equal(rows[DAY], day)
        parts.append((day, rows.filter(same).drop_columns([DAY])))
    return parts
