"""``format("lapwing")``: the broker's stream fitted to Spark's Python data source interface."""

from __future__ import annotations

import functools
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from lapwing.contracts.envelope import ENVELOPE
from lapwing.contracts.fields import Record
from lapwing.errors import LapwingError, OffsetAheadError, OffsetTrimmedError
from lapwing.pipeline.errors import StreamRecreatedError, sealed
from lapwing.pipeline.source.client import StreamClient, StreamState
from lapwing.pipeline.source.first_positions import check_offsets
from lapwing.pipeline.source.named_reader import NamedReader
from lapwing.pipeline.source.offsets import Positions, Range, share, split
from lapwing.pipeline.source.options import SourceOptions
from lapwing.pipeline.source.typed import wrong_option

_HOLD_SHARE = 0.1
_HOLD_S_MAX = 3.0
"""Stopping a query waits for the call at hand."""
_LOOK_S = 0.5
_WHERE_READ = 'spark.read.format("lapwing")'

_Call = TypeVar("_Call", bound=Callable[..., Any])


def _sealing(call: _Call) -> _Call:
    """Our errors leave this process as one marked line; see `lapwing.pipeline.errors`."""

    @functools.wraps(call)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        try:
            return call(*args, **kwargs)
        except LapwingError as error:
            raise sealed(error) from None

    return guarded  # type: ignore[return-value]


@dataclass(frozen=True)
class _Task(InputPartition):
    """What one Spark task reads; pickled to a worker."""

    uuid: str
    part: Range


class LapwingDataSource(DataSource):
    """Reads a broker's stream, as a batch or as a stream; options: `SourceOptions`."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        self.options = options

    @classmethod
    def name(cls) -> str:
        """What stands in ``format(...)``."""
        return "lapwing"

    @_sealing
    def schema(self) -> StructType:
        """The envelope's columns, or the decoded ones."""
        return _record(SourceOptions.parse(dict(self.options))).spark_schema()

    @_sealing
    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: ARG002  (Spark's interface)
        """For ``spark.read``: what the stream holds now, from ``start``, which is not ``latest``, up to ``until``."""
        options = SourceOptions.parse(dict(self.options))
        if options.start == "latest":
            # All that comes after now is nothing, in a batch that ends now: it was read from the oldest on instead.
            remedy = 'spark.read gives what is there: leave start out, or give offsets such as {"0": 12}'
            raise wrong_option("start", options.start, remedy, _WHERE_READ)
        if options.reader:
            # Spark says to no batch that it is done, and what has only begun to be read is not.
            remedy = "only spark.readStream tells the broker how far it is: leave reader out"
            raise wrong_option("reader", options.reader, remedy, _WHERE_READ)
        return _BatchReader(options)

    @_sealing
    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: ARG002, N802
        """For ``spark.readStream``."""
        return _StreamReader(SourceOptions.parse(dict(self.options)))


def _record(options: SourceOptions) -> Record:
    # Not at the top: each query has a process of its own that asks for positions only, and begins in 0.5 s without it.
    from lapwing.pipeline.transforms.parse import PARSED

    return PARSED if options.decode == "reading" else ENVELOPE


class _BatchReader(DataSourceReader):
    def __init__(self, options: SourceOptions) -> None:
        self._options = options

    @_sealing
    def partitions(self) -> list[InputPartition]:
        with self._options.client() as client:
            state = client.state()
        start, until = self._options.start_offsets() or {}, self._options.until_offsets() or {}
        check_offsets("start", start, state, self._options.url)
        check_offsets("until", until, state, self._options.url)
        return _tasks(self._options, state.uuid, {**_firsts(state), **start}, {**_ends(state), **until})

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return _read(self._options, partition)


class _StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    def __init__(self, options: SourceOptions) -> None:
        self._options = options
        self._client: StreamClient | None = None
        self._target: dict[int, int] | None = None
        self._quiet_since: float | None = None
        self._reader = NamedReader(options.reader)

    @_sealing
    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        state = self._state()
        ends = _ends(state)
        given = self._options.start_offsets() or {}
        start = ends if self._options.start == "latest" else {**_firsts(state), **given}
        return Positions(state.name, state.uuid, start).to_json()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        rows = self._options.max_rows_per_batch
        return ReadMaxRows(rows) if rows else ReadAllAvailable()

    @_sealing
    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        self._target = _ends(self._state())

    @_sealing
    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        at = Positions.from_json(start)
        state = self._state()
        self._check(at, state)
        # Spark asks when the batch before is written, and once more behind the last one of `AvailableNow`.
        self._reader.tell(self._asked(), at.next, state)
        begun = self._options.until_offsets() or {}
        if any(at.next.get(partition, 0) < end for partition, end in begun.items()):
            return at.moved({**at.next, **begun}).to_json()
        rows_max = limit.max_rows if isinstance(limit, ReadMaxRows) else None
        if self._target is None:
            state = self._news(at, state)
        return at.moved(share(at.next, self._target or _ends(state), rows_max)).to_json()

    def _news(self, at: Positions, state: StreamState) -> StreamState:
        """The stream's state, at once if there is something to read.

        Where nothing has come for a while the answer is held back for a tenth of that, and the broker asked meanwhile:
        that costs less than Spark's trigger does, and what comes is seen as early.
        """
        begun = time.monotonic()
        if self._quiet_since is None:
            self._quiet_since = begun
        until = begun + min(_HOLD_S_MAX, _HOLD_SHARE * (begun - self._quiet_since))
        while all(at.next.get(partition, 0) >= end for partition, end in _ends(state).items()):
            left_s = until - time.monotonic()
            if left_s <= 0:
                return state
            time.sleep(min(_LOOK_S, left_s))
            state = self._state()
            self._check(at, state)
        self._quiet_since = None
        return state

    @_sealing
    def reportLatestOffset(self) -> dict[str, Any] | None:  # noqa: N802
        state = self._state()
        return Positions(state.name, state.uuid, _ends(state)).to_json()

    @_sealing
    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        from_, to = Positions.from_json(start), Positions.from_json(end)
        return _tasks(self._options, to.uuid, from_.next, to.next)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return _read(self._options, partition)

    def _state(self) -> StreamState:
        return self._asked().state()

    def _asked(self) -> StreamClient:
        self._client = self._client or self._options.client()
        return self._client

    def _check(self, at: Positions, state: StreamState) -> None:
        if at.uuid != state.uuid:
            raise _recreated(self._options, at.uuid, state.uuid)
        for partition, offset in at.next.items():
            held = state.partitions.get(partition)
            if held is None or offset > held.next_offset:
                ends = held.next_offset if held else 0
                raise OffsetAheadError(
                    f"the stream ends at offset {ends} of partition {partition}, before the job's {offset}",
                    where=self._options.url,
                    # A new checkpoint alone does not help a job: its tables say where it goes on.
                    remedy="restore the broker's data folder, or begin anew: a job with a new --out and a new"
                    " --checkpoint, any other query with a new checkpoint",
                    next_offset=ends,
                )
            if offset < held.first_offset and self._options.on_trimmed == "fail":
                raise _trimmed(self._options, partition, offset, held.first_offset)


def _firsts(state: StreamState) -> dict[int, int]:
    return {partition: held.first_offset for partition, held in state.partitions.items()}


def _ends(state: StreamState) -> dict[int, int]:
    return {partition: held.next_offset for partition, held in state.partitions.items()}


def _tasks(options: SourceOptions, uuid: str, start: Any, end: Any) -> list[InputPartition]:
    ranges = split(start, end, rows_min=options.rows_per_task_min, tasks=options.task_count())
    return [_Task(uuid, part) for part in ranges]


def _read(options: SourceOptions, task: InputPartition) -> Iterator[pa.RecordBatch]:
    # A generator, so that the seal must be around its body: errors rise while Spark iterates.
    if not isinstance(task, _Task):
        return  # Spark's stand-in for "no partitions": an empty stream
    try:
        with options.client() as client:
            yield from _range(options, client, task)
    except LapwingError as error:
        raise sealed(error) from None


def _range(options: SourceOptions, client: StreamClient, task: _Task) -> Iterator[pa.RecordBatch]:
    from lapwing.pipeline.transforms.parse import parse_batch

    convert = parse_batch if options.decode == "reading" else _as_it_is
    at = task.part.start
    while at < task.part.end:
        rows_max = min(options.rows_per_request, task.part.end - at)
        try:
            found = client.read(task.part.partition, at, rows_max=rows_max, bytes_max=options.bytes_per_request)
        except OffsetTrimmedError as error:
            if options.on_trimmed == "fail":
                raise _trimmed(options, task.part.partition, at, error.first_offset) from None
            at = error.first_offset
            continue
        if found.uuid != task.uuid:
            raise _recreated(options, task.uuid, found.uuid)
        if found.next_offset <= at:
            raise OffsetAheadError(
                f"offset {at} of partition {task.part.partition} was promised and is not there",
                where=options.url,
            )
        at = found.next_offset
        yield from map(convert, _before(task.part.end, found.batches))


def _before(end: int, batches: Sequence[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows below offset ``end``: where messages are lost, as many as were asked for reach beyond it."""
    for batch in batches:
        rows = bisect_left(batch.column("offset"), end, key=lambda offset: offset.as_py())
        if rows:
            yield batch.slice(0, rows)


def _as_it_is(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch


def _recreated(options: SourceOptions, known: str, found: str) -> StreamRecreatedError:
    return StreamRecreatedError(
        f"the stream was deleted and made again: the checkpoint knows {known}, the broker has {found}",
        where=options.url,
        remedy="start with a new --checkpoint; tables are kept, and no reading gets into them twice",
    )


def _trimmed(options: SourceOptions, partition: int, offset: int, first: int) -> OffsetTrimmedError:
    return OffsetTrimmedError(
        f"retention has trimmed partition {partition} to offset {first}, and the job is at {offset}:"
        f" {first - offset} messages are gone",
        where=options.url,
        remedy="set on_trimmed=skip to count them and go on, or retain more on the broker",
        first_offset=first,
    )
