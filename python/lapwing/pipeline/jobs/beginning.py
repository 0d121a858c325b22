"""Where a job's query begins: where its checkpoint stands; without one, where its tables stand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lapwing.pipeline.errors import TableError
from lapwing.pipeline.jobs.job_tables import JobTables
from lapwing.pipeline.source.client import StreamState
from lapwing.pipeline.source.job_source import Begun, JobSource


def is_fresh(checkpoint: Path, tables: JobTables[Any]) -> bool:
    """Whether there is no checkpoint: then the tables say where to go on, and which batch was begun.

    Raises:
        TableError: There is one, and the tables know of no batch.
    """
    if not any((checkpoint / "commits").glob("[0-9]*")):
        return True
    if tables.untouched():
        raise TableError(
            "the checkpoint is ahead of the tables, which have just been made",
            where=str(checkpoint),
            remedy="remove the checkpoint as well, or bring the tables back",
        )
    return False


def begun_at(tables: JobTables[Any], source: JobSource, state: StreamState, *, fresh: bool) -> Begun:
    """Where the tables stand; at the first start with this source, where it is to begin, which they then know."""
    begun = tables.begun()
    if fresh and not begun.known:
        oldest = {p: held.first_offset for p, held in state.partitions.items()}
        tables.begin(source.first_positions(state), oldest)
        begun = tables.begun()
    return begun
