"""What a job asks of its tables, and what every job tells of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeVar

from pyspark.sql import DataFrame

from lapwing.pipeline.source.job_source import Begun


class Batch(Protocol):
    """What every job tells of a batch."""

    @property
    def rows(self) -> int:
        """Messages that were not in the tables yet."""

    @property
    def done(self) -> Mapping[int, int]:
        """Per stream partition the offset up to which every table is done."""


_Told = TypeVar("_Told", bound=Batch, covariant=True)


class JobTables(Protocol[_Told]):
    """A job's tables, for one stream."""

    def begun(self) -> Begun:
        """Where a job without a checkpoint has to start, and the end of the batch that it may have to finish."""

    def begin(self, start: Mapping[int, int], oldest: Mapping[int, int]) -> None:
        """Writes down where a source begins that they do not know, and that they know it from now on.

        Spark commits batches that bring nothing. So a checkpoint may be older than the first row of a table, and a
        start at ``latest`` must be the same one however often it is tried.

        Args:
            start: By partition, 0: the oldest that there is.
            oldest: By partition the first offset that is still there.
        """

    def untouched(self) -> bool:
        """Whether nothing was ever written: no batch, and no beginning."""

    def rows(self) -> dict[str, int]:
        """How many rows each table has."""

    def write(self, rows: DataFrame, batch: int) -> _Told:
        """Writes a batch to every table that does not have it yet."""

    def refresh(self) -> None:
        """Takes up what others have committed; `TableError` where a table is gone or older than it was."""

    def tidy(self, *, every_batches: int) -> None:
        """Makes few files of many, once in so many batches."""
