"""A batch is written although somebody else writes to a job's tables."""

from __future__ import annotations

from typing import TypeVar

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from lapwing.pipeline.errors import ConflictError, TableError
from lapwing.pipeline.jobs.job_tables import Batch, JobTables
from lapwing.pipeline.jobs.patience import LOG

Progress = TypeVar("Progress", bound=Batch)

_CONFLICTS_MAX = 5
"""So often a batch is written again."""


def write_among_others(tables: JobTables[Progress], rows: DataFrame, batch: int) -> Progress:
    """Writes a batch, again where somebody else has changed a table meanwhile: what a table has, it leaves out."""
    for _ in range(_CONFLICTS_MAX):
        tables.refresh()
        try:
            return tables.write(rows, batch)
        except (ConflictError, FileNotFoundError, PySparkException) as error:
            if isinstance(error, PySparkException) and "FileNotFoundError" not in str(error):
                raise
            LOG.warning("batch %s is written again: %s", batch, str(error).splitlines()[0][:300])
    tables.refresh()
    try:
        return tables.write(rows, batch)
    except FileNotFoundError as error:
        gone = str(error.filename or error)
        remedy = "bring it back, or give another --out"
        raise TableError("a file that a table is made of is gone", where=gone, remedy=remedy) from None
