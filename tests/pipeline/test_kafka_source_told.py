"""A topic that is not as the job needs it, or no more: does that stop the job, and is it told?"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from kafka_stream import KafkaStream
from messages import envelopes, reading
from pyspark.sql import SparkSession
from shared_kafka import SharedKafka
from test_coverage_job import check, send
from test_kafka_source import run

from lapwing.errors import ConnectError, OffsetAheadError, OffsetTrimmedError, StreamUnknownError
from lapwing.pipeline.errors import SparkUnusableError, StreamRecreatedError
from lapwing.pipeline.jobs.coverage import CoverageJob, run_coverage
from lapwing.pipeline.source.spark_jars import JARS_REMEDY, KAFKA, require_jar

pytestmark = [pytest.mark.timeout(300), pytest.mark.usefixtures("spark")]


def test_what_retention_has_deleted_stops_the_job_or_is_counted(topic: KafkaStream, tmp_path: Path) -> None:
    topic.append(0, envelopes([reading("d", n) for n in range(10)]))
    run(topic, tmp_path)
    topic.append(0, envelopes([reading("d", n) for n in range(10, 20)]))
    topic.trim(0, 14)
    with pytest.raises(OffsetTrimmedError, match="4 offsets are gone"):
        run(topic, tmp_path)
    shutil.rmtree(tmp_path / "checkpoint")
    with pytest.raises(OffsetTrimmedError, match="on_trimmed=skip"):
        run(topic, tmp_path)
    result = run(topic, tmp_path, conf={"lapwing.on_trimmed": "skip"})
    assert (result.trimmed, result.readings, result.lost, result.before_start) == (4, 6, 0, 4)


def test_retention_that_overtakes_a_running_job_stops_it(topic: KafkaStream, tmp_path: Path) -> None:
    """Spark finds it: the records were there when the job looked, and are not when it reads."""
    for number in range(20):  # one by one, and fetched so: a consumer reads ahead
        topic.append(0, envelopes([reading("d", number)]))
    trimmed: list[int] = []

    def overtaken(name: str) -> None:
        if name == "batch" and not trimmed:
            trimmed.append(15)
            topic.trim(0, 15)

    fetched = {"lapwing.kafka.max.partition.fetch.bytes": "1", "lapwing.kafka.fetch.max.bytes": "1"}
    conf = {"lapwing.max_rows_per_batch": "5", **fetched}
    job = CoverageJob(topic.url, tmp_path, trigger="available-now", conf=conf, committed=overtaken).start()
    try:
        with pytest.raises(OffsetTrimmedError, match="on_trimmed=skip"):
            job.wait()
    finally:
        job.stop()


def test_a_topic_made_again_stops_the_job_and_a_new_checkpoint_goes_on(topic: KafkaStream, tmp_path: Path) -> None:
    send(topic, 0, 10)  # type: ignore[arg-type]
    run(topic, tmp_path)
    topic.recreate()
    send(topic, 10, 5)  # type: ignore[arg-type]
    with pytest.raises(StreamRecreatedError, match="made again"):
        run(topic, tmp_path)
    run(topic, tmp_path, checkpoint=tmp_path / "new")
    check(tmp_path, 15)


def test_what_cannot_be_read_is_told(kafka: SharedKafka, tmp_path: Path) -> None:
    with pytest.raises(StreamUnknownError, match="no topic 'nowhere'"):
        run_coverage(f"kafka://{kafka.bootstrap}/nowhere", tmp_path / "a", draw=False)
    conf = {"lapwing.timeout_s": "2"}
    with pytest.raises(ConnectError, match="does not answer"):
        run_coverage("kafka://127.0.0.1:1/readings", tmp_path / "b", draw=False, conf=conf)


def test_a_topic_that_ends_before_the_job_is_told(topic: KafkaStream, tmp_path: Path) -> None:
    from lapwing.pipeline.source.client import PartitionState, StreamState
    from lapwing.pipeline.source.job_source import Begun
    from lapwing.pipeline.source.kafka_topic import KafkaTopic

    source = KafkaTopic(topic.url, {})
    state = StreamState(topic.name, "kafka:x", {0: PartitionState(0, 4)})
    with pytest.raises(OffsetAheadError, match="ends at offset 4 of partition 0, before the job's 7"):
        source._check(Begun({0: 7}, {}), state)


def test_a_part_that_spark_cannot_load_is_told(spark: SparkSession) -> None:
    """Is there Java's reason, and a remedy that fits: for a jar that Spark was given, and for one that it was not?"""
    broken = replace(KAFKA, known_by="no.such.Part")
    with pytest.raises(SparkUnusableError, match=r"ClassNotFoundException: no\.such\.Part \(here\)") as caught:
        require_jar(spark, broken, "here")
    assert "ulimit -n" in str(caught.value)
    with pytest.raises(SparkUnusableError) as caught:
        require_jar(spark, replace(broken, jar="never-given-*.jar"), "here")
    assert JARS_REMEDY in str(caught.value)
