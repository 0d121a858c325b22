"""A topic of Apache Kafka as the source of a job, read with Spark's own Kafka source.

Positions are the tables', as with a stream: a table's commit names the topic by its id, the partition and the offset.
So a topic that was deleted and made again is another one, and nothing hangs on a consumer group.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from lapwing.contracts.envelope import CARRIED
from lapwing.errors import LapwingError, OffsetAheadError, OffsetTrimmedError
from lapwing.pipeline.errors import JobError, StreamRecreatedError, unsealed
from lapwing.pipeline.source.client import StreamState
from lapwing.pipeline.source.first_positions import first_positions
from lapwing.pipeline.source.job_source import Begun
from lapwing.pipeline.source.kafka_address import KafkaAddress
from lapwing.pipeline.source.kafka_admin import KafkaAdmin
from lapwing.pipeline.source.kafka_columns import KAFKA_COLUMNS, envelopes
from lapwing.pipeline.source.kafka_failure import kafka_error
from lapwing.pipeline.source.kafka_news import KafkaNews
from lapwing.pipeline.source.kafka_options import KafkaOptions, starting_offsets
from lapwing.pipeline.source.spark_jars import KAFKA
from lapwing.pipeline.transforms.parse import PARSED, parse_batch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_DATA_LOSS = ("KAFKA_DATA_LOSS", "failOnDataLoss", "OffsetOutOfRangeException")
_KAFKA_S_OWN = ("org.apache.kafka.", "Cannot fetch record")
_SKIP = "give --conf lapwing.on_trimmed=skip to go on with what is left, or let Kafka retain more"


class KafkaTopic:
    """The topic at ``url``; ``options`` are those of `KafkaOptions`.

    Raises:
        ConfigError: The URL or an option is wrong.
    """

    offsets_are_dense = False
    packages = (KAFKA,)

    def __init__(self, url: str, options: Mapping[str, str]) -> None:
        self._address = KafkaAddress.parse(url)
        self._options = KafkaOptions.parse(options)
        self._admin: KafkaAdmin | None = None
        self._uuid = ""

    @property
    def name(self) -> str:
        """The topic's."""
        return self._address.topic

    @property
    def rest_after_s(self) -> float:
        """The option."""
        return self._options.rest_after_s

    @property
    def skips_trimmed(self) -> bool:
        """The option ``on_trimmed``."""
        return self._options.on_trimmed == "skip"

    @property
    def where(self) -> str:
        """Its URL."""
        return str(self._address)

    def check(self) -> None:
        """Nothing: Kafka's client comes with Spark."""

    def opened(self, spark: SparkSession) -> StreamState:
        """See `JobSource`."""
        self._admin = KafkaAdmin(spark, self._options.client_settings(self._address), self.where)
        self._uuid = ""
        return self.state()

    def state(self) -> StreamState:
        """What the cluster says of the topic.

        Raises:
            StreamRecreatedError: It is not the one that was opened.
        """
        assert self._admin is not None  # `opened` comes first
        state = self._admin.state(self.name)
        self._uuid = self._uuid or state.uuid
        if state.uuid != self._uuid:
            raise _recreated(state, self.where)
        return state

    def news(self, ends: Mapping[int, int]) -> KafkaNews:
        """See `JobSource`."""
        assert self._admin is not None  # `opened` comes first
        return self._admin.news(self.name, ends, self._options.timeout_s)

    def first_positions(self, state: StreamState) -> Mapping[int, int]:
        """See `JobSource`."""
        return first_positions(self._options.start, self._options.start_offsets(), state, self.where)

    def load(
        self, spark: SparkSession, state: StreamState, begun: Begun, *, fresh: bool, reader: str, decode: str
    ) -> DataFrame:
        """See `JobSource`."""
        if not fresh and not begun.known:
            raise _recreated(state, self.where)
        self._check(begun, state)
        told = self._options.spark_options(self._address, reader, len(state.partitions))
        # One that has not begun is read from what is the oldest by then.
        at = {p: max(begun.start.get(p, 0), held.first_offset) for p, held in state.partitions.items()}
        starts = {p: offset if begun.has_begun(p) else None for p, offset in at.items()}
        told["startingOffsets"] = starting_offsets(self.name, starts)
        loaded = spark.readStream.format("kafka").options(**told).load()
        topic, parsed = self.name, decode == "reading"

        def rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            made = (envelopes(batch, topic) for batch in batches)
            return map(parse_batch, made) if parsed else made

        schema = (PARSED if parsed else CARRIED).spark_schema()
        return loaded.select(*KAFKA_COLUMNS).mapInArrow(rows, schema)

    def read_up_to(self, progress: Any) -> Mapping[int, int]:
        """See `JobSource`."""
        ends = [json.loads(source.endOffset or "{}") for source in progress.sources] if progress else []
        return {int(p): int(offset) for end in ends for p, offset in end.get(self.name, {}).items()}

    def told(self, failure: BaseException) -> LapwingError:
        """A failure of Spark's or of Kafka's client as an error of ours."""
        found = unsealed(failure, where=self.where)
        said = str(failure)
        if not isinstance(found, JobError):
            return found
        if any(mark in said for mark in _DATA_LOSS):
            what = f"Kafka has lost or deleted records that the job had not read: {found.what}"
            return OffsetTrimmedError(what, where=self.where, remedy=_SKIP)
        known = any(mark in said for mark in _KAFKA_S_OWN)
        return kafka_error(said, self.where, self.name) if known else found

    def _check(self, begun: Begun, state: StreamState) -> None:
        for partition, offset in begun.start.items():
            held = state.partitions.get(partition)
            if held is None or offset > held.next_offset:
                ends = held.next_offset if held else 0
                raise OffsetAheadError(
                    f"the topic ends at offset {ends} of partition {partition}, before the job's {offset}",
                    where=self.where,
                    remedy="Kafka has lost what it had confirmed; restore it, or write to a new --out",
                    next_offset=ends,
                )
            is_behind = begun.has_begun(partition) and offset < held.first_offset
            if is_behind and self._options.on_trimmed == "fail":
                raise OffsetTrimmedError(
                    f"retention has deleted partition {partition} up to offset {held.first_offset}, and the job is at"
                    f" {offset}: {held.first_offset - offset} offsets are gone",
                    where=self.where,
                    remedy=_SKIP,
                    first_offset=held.first_offset,
                )


def _recreated(state: StreamState, where: str) -> StreamRecreatedError:
    return StreamRecreatedError(
        f"the checkpoint is of another topic, or of one of this name that was deleted and made again; this is"
        f" {state.uuid}",
        where=where,
        remedy="start with a new --checkpoint; tables are kept, and no reading gets into them twice",
    )
