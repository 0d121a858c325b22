"""What a job needs of a source, whichever it is: a broker's stream, or a topic of Apache Kafka."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from lapwing.errors import LapwingError
from lapwing.pipeline.source.client import StreamState
from lapwing.pipeline.source.spark_jars import Package

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Begun:
    """Where the tables stand: all are done up to ``start``, some up to ``until`` already."""

    start: Mapping[int, int]
    until: Mapping[int, int]
    known: bool = True
    """Whether a table has met this source (by its id, not its name); else both say 0."""
    from_zero: Collection[int] = ()
    """The partitions that were whole when the job began with them: there 0 is an offset; elsewhere the oldest."""

    def has_begun(self, partition: int) -> bool:
        """Whether ``start`` says of it where to go on."""
        return self.start.get(partition, 0) > 0 or partition in self.from_zero


class News(Protocol):
    """Waits for what comes to a source that no query reads."""

    def come(self, timeout_s: float) -> bool:
        """Waits at most so long, and says whether something has come that a query has to see."""

    def close(self) -> None:
        """Ends it."""


class JobSource(Protocol):
    """Partitions of messages, each with offsets that rise."""

    @property
    def name(self) -> str:
        """The stream's or the topic's."""

    @property
    def where(self) -> str:
        """Its address, for errors."""

    @property
    def packages(self) -> tuple[Package, ...]:
        """The jars that Spark must be started with."""

    @property
    def offsets_are_dense(self) -> bool:
        """Whether an offset that does not come was deleted; else it may never have been a message."""

    @property
    def skips_trimmed(self) -> bool:
        """Whether a job goes on where retention was faster."""

    @property
    def rest_after_s(self) -> float:
        """A query rests when nothing has come for so long; 0: never."""

    def news(self, ends: Mapping[int, int]) -> News | None:
        """Who waits for what comes behind ``ends``, the next offset of each partition; None: a query never rests.

        Raises:
            LapwingError: As for `check`.
        """

    def check(self) -> None:
        """What can be known before Spark runs.

        Raises:
            LapwingError: Nobody answers, or there is no such stream.
        """

    def opened(self, spark: SparkSession) -> StreamState:
        """What it holds, asked with this session; then `state` may be called too. Errors as for `check`."""

    def state(self) -> StreamState:
        """What it holds now."""

    def first_positions(self, state: StreamState) -> Mapping[int, int]:
        """Per partition where a job begins that has never read this source; 0: at the oldest that there is.

        Raises:
            OffsetAheadError: The option ``start`` names an offset that is not there.
        """

    def load(
        self, spark: SparkSession, state: StreamState, begun: Begun, *, fresh: bool, reader: str, decode: str
    ) -> DataFrame:
        """The streaming DataFrame: columns of the envelope, or with ``decode`` = ``reading`` the parsed ones.

        A source that may bring a message twice has ``message_id`` among the envelope's, see ``CARRIED``.

        Args:
            spark: The session.
            state: What the source holds.
            begun: Where the tables stand; known, if ``fresh``.
            fresh: Whether there is no checkpoint, so that the tables say where to start.
            reader: The job's name.
            decode: ``none`` or ``reading``.

        Raises:
            LapwingError: The positions do not fit what is there.
        """

    def read_up_to(self, progress: Any) -> Mapping[int, int]:
        """Per partition the offset up to which Spark has read and written, by its own progress report (or None).

        It may be above what the tables say: where the last offsets are no messages.
        """

    def told(self, failure: BaseException) -> LapwingError:
        """A failure of Spark's as an error of ours."""
