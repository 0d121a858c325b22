"""Does format("lapwing") read every message once, in steps, over restarts, and say what is wrong?"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from messages import envelopes, reading
from pyspark.sql import DataFrame, SparkSession
from served_stream import ServedStream

from lapwing.contracts.envelope import ENVELOPE
from lapwing.errors import ConnectError, LapwingError, OffsetAheadError, OffsetTrimmedError, StreamUnknownError
from lapwing.pipeline.errors import StreamRecreatedError, unsealed
from lapwing.pipeline.transforms.parse import PARSED, parse

pytestmark = pytest.mark.timeout(300)


def fill(stream: ServedStream, partition: int, count: int, first: int = 0) -> None:
    stream.append(partition, envelopes([reading(f"d{partition}", first + n) for n in range(count)]))


def batch(spark: SparkSession, stream: ServedStream, **options: Any) -> DataFrame:
    return spark.read.format("lapwing").options(url=stream.url, **options).load()


class Query:
    """Runs ``available-now`` over a checkpoint, and keeps what each batch brought as (partition, offset)."""

    def __init__(self, spark: SparkSession, stream: ServedStream, checkpoint: Path, **options: Any) -> None:
        self.batches: list[list[tuple[int, int]]] = []
        rows = spark.readStream.format("lapwing").options(url=stream.url, **options).load()
        self.writer = rows.writeStream.option("checkpointLocation", str(checkpoint))
        self.between: Callable[[], None] = lambda: None

    def run(self) -> list[list[tuple[int, int]]]:
        def keep(rows: DataFrame, _batch: int) -> None:
            self.batches.append(sorted((row.partition, row.offset) for row in rows.collect()))
            self.between()

        query = self.writer.foreachBatch(keep).trigger(availableNow=True).start()
        try:
            query.awaitTermination()
        except Exception as error:
            raise unsealed(error, where="test") from None
        return self.batches


def everything(*counts: int) -> list[tuple[int, int]]:
    return [(partition, offset) for partition, count in enumerate(counts) for offset in range(count)]


def test_a_batch_read_has_every_message_as_it_is(spark: SparkSession, stream: ServedStream) -> None:
    fill(stream, 0, 30)
    fill(stream, 1, 5)
    rows = batch(spark, stream, rows_per_request=7, rows_per_task_min=1, tasks=3)
    assert rows.columns == ENVELOPE.names
    found = rows.collect()
    assert sorted((row.partition, row.offset) for row in found) == everything(30, 5)
    assert json.loads(next(row.payload for row in found if row.partition == 1))["device"] == "d1"


def test_an_empty_stream_has_no_rows(spark: SparkSession, stream: ServedStream) -> None:
    assert batch(spark, stream).count() == 0


def test_batches_have_at_most_the_rows_they_may(spark: SparkSession, stream: ServedStream, tmp_path: Path) -> None:
    fill(stream, 0, 25)
    fill(stream, 1, 4)
    batches = Query(spark, stream, tmp_path, max_rows_per_batch=10).run()
    assert [len(each) for each in batches] == [10, 10, 9]
    assert sorted(chain.from_iterable(batches)) == everything(25, 4)


def test_available_now_ends_where_the_stream_ended_at_its_start(
    spark: SparkSession, stream: ServedStream, tmp_path: Path
) -> None:
    fill(stream, 0, 10)
    query = Query(spark, stream, tmp_path, max_rows_per_batch=5)
    query.between = lambda: fill(stream, 0, 3)
    assert sorted(chain.from_iterable(query.run())) == everything(10)


def test_a_restart_goes_on_where_the_checkpoint_is(spark: SparkSession, stream: ServedStream, tmp_path: Path) -> None:
    fill(stream, 0, 10)
    Query(spark, stream, tmp_path).run()
    fill(stream, 0, 4, first=10)
    assert Query(spark, stream, tmp_path).run() == [[(0, 10), (0, 11), (0, 12), (0, 13)]]
    assert Query(spark, stream, tmp_path).run() == []


def test_a_first_batch_that_had_been_begun_ends_where_it_did(
    spark: SparkSession, stream: ServedStream, tmp_path: Path
) -> None:
    fill(stream, 0, 20)
    batches = Query(spark, stream, tmp_path, start='{"0": 5}', until='{"0": 8}').run()
    assert batches[0] == [(0, 5), (0, 6), (0, 7)]
    assert len(list(chain.from_iterable(batches))) == 15


def test_a_recreated_stream_stops_the_query(spark: SparkSession, stream: ServedStream, tmp_path: Path) -> None:
    fill(stream, 0, 10)
    Query(spark, stream, tmp_path).run()
    stream.recreate()
    fill(stream, 0, 20)
    with pytest.raises(StreamRecreatedError, match="made again"):
        Query(spark, stream, tmp_path).run()


def test_a_stream_that_lost_its_end_stops_the_query(spark: SparkSession, stream: ServedStream, tmp_path: Path) -> None:
    fill(stream, 0, 10)
    Query(spark, stream, tmp_path).run()
    stream.partitions[0].next_offset = 4
    with pytest.raises(OffsetAheadError, match="ends at offset 4 of partition 0"):
        Query(spark, stream, tmp_path).run()


def test_trimmed_messages_stop_the_query_unless_told(spark: SparkSession, stream: ServedStream, tmp_path: Path) -> None:
    fill(stream, 0, 10)
    Query(spark, stream, tmp_path).run()
    fill(stream, 0, 10, first=10)
    stream.trim(0, 15)
    with pytest.raises(OffsetTrimmedError, match="on_trimmed=skip") as caught:
        Query(spark, stream, tmp_path).run()
    assert "5 messages are gone" in str(caught.value)
    assert Query(spark, stream, tmp_path, on_trimmed="skip").run() == [[(0, n) for n in range(15, 20)]]


def test_how_far_a_query_is_is_told_by_its_driver(spark: SparkSession, stream: ServedStream, tmp_path: Path) -> None:
    """Where each batch begins, and where the last one ends; tasks, which run side by side, tell nothing."""
    fill(stream, 0, 25)
    fill(stream, 1, 4)
    Query(spark, stream, tmp_path, max_rows_per_batch=10, rows_per_task_min=2, tasks=4, reader="spark").run()
    asked = [(urlsplit(target).path[-1], parse_qs(urlsplit(target).query)) for target in stream.requests]
    told: dict[str, list[int]] = {}
    for partition, query in asked:
        if query.get("reader") == ["spark"]:
            told.setdefault(partition, []).append(int(query["from"][0]))
            assert query["limit"] == ["1"]
    assert told == {"0": [0, 6, 16, 25], "1": [0, 4]}


def test_an_unknown_stream_is_named(spark: SparkSession, stream: ServedStream) -> None:
    with pytest.raises(Exception, match="no stream is called 'other'") as caught:
        spark.read.format("lapwing").option("url", stream.url.replace("readings", "other")).load().count()
    assert isinstance(unsealed(caught.value, where=""), StreamUnknownError)


def test_nobody_there_is_told(spark: SparkSession, stream: ServedStream) -> None:
    stream.close()
    with pytest.raises(Exception, match="nobody answers") as caught:
        spark.read.format("lapwing").options(url=stream.url, retry_s=0).load().count()
    found = unsealed(caught.value, where="")
    assert isinstance(found, ConnectError)
    assert found.exit_code == 3
    assert "\n" not in str(found)


def test_a_wrong_option_is_told(spark: SparkSession, stream: ServedStream) -> None:
    with pytest.raises(Exception, match="colour") as caught:
        batch(spark, stream, colour="red").count()
    assert isinstance(unsealed(caught.value, where=""), LapwingError)


def test_decoding_in_the_source_and_after_it_say_the_same(spark: SparkSession, stream: ServedStream) -> None:
    stream.append(0, envelopes([reading("a", 0), b"broken", reading("a", 1, lat=None, lon=None, rsrp_dbm=-200)]))
    within = batch(spark, stream, decode="reading")
    after = parse(batch(spark, stream))
    assert within.columns == after.columns == PARSED.names
    rows = sorted(within.collect(), key=lambda row: row.offset)
    assert rows == sorted(after.collect(), key=lambda row: row.offset)
    assert [row.reason for row in rows] == [None, "not_json", None]
    assert [row.payload for row in rows] == [None, b"broken", None]
    assert rows[2].rsrp_dbm is None
