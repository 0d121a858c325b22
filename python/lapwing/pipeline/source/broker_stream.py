"""A broker's stream as the source of a job."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lapwing.errors import LapwingError
from lapwing.pipeline.errors import unsealed
from lapwing.pipeline.source.address import StreamAddress
from lapwing.pipeline.source.client import StreamState
from lapwing.pipeline.source.first_positions import first_positions
from lapwing.pipeline.source.job_source import Begun
from lapwing.pipeline.source.options import SourceOptions
from lapwing.pipeline.source.spark_jars import Package

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class BrokerStream:
    """The stream at ``url``; ``options`` are those of ``format("lapwing")``.

    Raises:
        ConfigError: The URL or an option is wrong.
    """

    offsets_are_dense = True
    packages: tuple[Package, ...] = ()
    """None: the source is Python."""

    def __init__(self, url: str, options: Mapping[str, str]) -> None:
        self._address = StreamAddress.parse(url)
        self._given = dict(options)
        self._options = SourceOptions.parse({**options, "url": str(self._address)})

    rest_after_s = 0.0
    """Its reader holds its answers back, which costs less than a query that starts again."""

    @property
    def name(self) -> str:
        """The stream's."""
        return self._address.stream

    @property
    def skips_trimmed(self) -> bool:
        """The option ``on_trimmed``."""
        return self._options.on_trimmed == "skip"

    @property
    def where(self) -> str:
        """Its URL."""
        return str(self._address)

    def check(self) -> None:
        """Asks the broker for it."""
        self.state()

    def opened(self, spark: SparkSession) -> StreamState:  # noqa: ARG002
        """The same as `state`."""
        return self.state()

    def state(self) -> StreamState:
        """What the broker says."""
        with self._options.client() as client:
            return client.state()

    def news(self, ends: Mapping[int, int]) -> None:
        """Nobody: see `rest_after_s`."""

    def first_positions(self, state: StreamState) -> Mapping[int, int]:
        """See `JobSource`."""
        return first_positions(self._options.start, self._options.start_offsets(), state, self.where)

    def load(
        self,
        spark: SparkSession,
        state: StreamState,  # noqa: ARG002  (the source asks for itself)
        begun: Begun,
        *,
        fresh: bool,
        reader: str,
        decode: str,
    ) -> DataFrame:
        """See `JobSource`."""
        options = {"reader": reader, **self._given, **(_resumed(begun) if fresh else {})}
        return spark.readStream.format("lapwing").options(url=self.where, decode=decode, **options).load()

    def read_up_to(self, progress: Any) -> Mapping[int, int]:  # noqa: ARG002
        """Nothing that the tables do not say: every offset is a message."""
        return {}

    def told(self, failure: BaseException) -> LapwingError:
        """See `unsealed`."""
        return unsealed(failure, where=self.where)


def _resumed(begun: Begun) -> dict[str, str]:
    """Where to go on, and the end of the batch that was begun, as the source's options."""
    # One that has not begun is read from what is the oldest by then.
    start = {str(p): offset for p, offset in begun.start.items() if begun.has_begun(p)}
    until = {str(p): offset for p, offset in begun.until.items() if offset > begun.start.get(p, 0)}
    return {
        "start": json.dumps(start) if start else "earliest",
        **({"until": json.dumps(until)} if until else {}),
    }
