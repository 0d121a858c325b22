"""Through Kafka: are the tables those of the stream, each reading once?"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import test_deadlines_job as deadlines
from confluent_kafka import Producer
from kafka_stream import FLUSH_S, KafkaStream
from killed import killed_after_each, saying
from late_messages import letter, miss
from messages import envelopes, fleet, reading
from pyspark.sql import SparkSession
from served_stream import ServedStream
from shared_kafka import SharedKafka
from test_coverage_job import CHECKS, POINTS, check, rows, run_until_killed, send, starting

from lapwing.contracts.kafka_envelope import KafkaEnvelope, headers
from lapwing.pipeline.jobs.coverage import CoverageJob, run_coverage
from lapwing.pipeline.jobs.deadlines import run_deadlines
from lapwing.pipeline.jobs.progress import JobResult

pytestmark = [pytest.mark.timeout(300), pytest.mark.usefixtures("spark")]
NIGHTLY = [pytest.mark.nightly, pytest.mark.timeout(600)]
KEEPS_OR_NOT = pytest.mark.parametrize("keep_checkpoint", [True, pytest.param(False, marks=pytest.mark.nightly)])
"""Whether the checkpoint is there when the job is started again."""


def run(stream: KafkaStream | ServedStream, out: Path, **arguments: Any) -> JobResult:
    return run_coverage(stream.url, out, draw=False, **arguments)


def without(table: list[dict[str, Any]], *columns: str) -> list[str]:
    """Rows as text, sorted, without columns that are the run's own."""
    kept = ({k: v for k, v in row.items() if k not in columns} for row in table)
    return sorted(json.dumps(row, default=str, sort_keys=True) for row in kept)


def test_the_tables_are_those_of_the_stream(topic: KafkaStream, stream: ServedStream, tmp_path: Path) -> None:
    """Counts, sums and histograms, of the same messages in the same partitions; cut into other batches."""
    for source in (topic, stream):
        for partition in range(2):
            for batch in fleet(3_000, devices=40, seed=partition, repeats=0.05, name=f"dev-{partition}"):
                source.append(partition, batch)
        send(source, 0, 20)  # type: ignore[arg-type]
    kafka, broker = tmp_path / "kafka", tmp_path / "broker"
    through_kafka = run(topic, kafka, conf={"lapwing.max_rows_per_batch": "2500"})
    through_stream = run(stream, broker)
    for name in ("rows", "readings", "repeated", "quarantined", "lost", "trimmed", "rows_in_tables"):
        assert getattr(through_kafka, name) == getattr(through_stream, name), name
    assert (through_kafka.rows, through_kafka.repeated > 200) == (6052, True)
    assert through_kafka.batches > 1
    for table in ("readings", "quarantine"):
        own = ("observed_at", "forwarded_at")
        assert without(rows(kafka, table), *own) == without(rows(broker, table), *own), table
    for table in ("quality", "coverage"):
        assert without(rows(kafka, table)) == without(rows(broker, table)), table
    latency = [[row for row in rows(out, "latency") if "observed" not in row["route"]] for out in (kafka, broker)]
    assert without(latency[0]) == without(latency[1])
    assert len(latency[0]) > 0


def test_batches_add_up_and_a_checkpoint_may_be_deleted(topic: KafkaStream, tmp_path: Path) -> None:
    send(topic, 0, 10)  # type: ignore[arg-type]
    run(topic, tmp_path, conf={"lapwing.max_rows_per_batch": "14"})
    shutil.rmtree(tmp_path / "checkpoint")
    send(topic, 10, 15)  # type: ignore[arg-type]
    assert run(topic, tmp_path, conf={"lapwing.max_rows_per_batch": "30"}).rows == 40
    assert run(topic, tmp_path).rows == 0
    check(tmp_path, 25)


@KEEPS_OR_NOT
def test_a_job_that_ends_after_a_commit_repeats_nothing(
    topic: KafkaStream, tmp_path: Path, keep_checkpoint: bool
) -> None:
    """After the last of the tables, all of them empty before; then, in the next batch, after the first of them."""

    def killed_after(point: str, counts: dict[str, int]) -> None:
        with saying(f"killed after {point}"):
            run_until_killed(topic, tmp_path, point)  # type: ignore[arg-type]
            for table, count in counts.items():
                CHECKS[table](tmp_path, count)
        if not keep_checkpoint:
            shutil.rmtree(tmp_path / "checkpoint")

    send(topic, 0, 10)  # type: ignore[arg-type]
    killed_after("seen", dict.fromkeys(CHECKS, 10))
    send(topic, 10, 10)  # type: ignore[arg-type]
    killed_after("readings", {**dict.fromkeys(CHECKS, 10), "readings": 20})
    # Without the checkpoint smaller batches: the first ends before where a table stands already.
    run(topic, tmp_path, conf={} if keep_checkpoint else {"lapwing.max_rows_per_batch": "14"})
    check(tmp_path, 20)


@pytest.mark.nightly
@pytest.mark.timeout(600)
@KEEPS_OR_NOT
def test_a_job_that_ends_after_each_commit_repeats_nothing(
    topic: KafkaStream, tmp_path: Path, keep_checkpoint: bool
) -> None:
    """Every point of a batch, as for a broker's stream."""
    sent = killed_after_each(
        POINTS,
        starting(topic, tmp_path),  # type: ignore[arg-type]
        partial(send, topic),
        tmp_path,
        CHECKS,
        keep_checkpoint=keep_checkpoint,
        is_cut_alike=keep_checkpoint,
    )
    run(topic, tmp_path)
    check(tmp_path, sent)


@KEEPS_OR_NOT
def test_killed_in_the_first_batch_that_brought_something(
    topic: KafkaStream, tmp_path: Path, keep_checkpoint: bool
) -> None:
    """Of a job that was told to begin at the end: it begins where that was at its first start."""
    conf = {"lapwing.start": "latest"}
    topic.append(0, envelopes([reading("z", 0)]))
    assert run(topic, tmp_path, conf=conf).rows == 0
    send(topic, 0, 10)  # type: ignore[arg-type]
    run_until_killed(topic, tmp_path, "readings", **conf)  # type: ignore[arg-type]
    if not keep_checkpoint:
        shutil.rmtree(tmp_path / "checkpoint")
    run(topic, tmp_path, conf=conf)
    check(tmp_path, 10)


def test_what_a_bridge_writes_again_counts_as_repeated(topic: KafkaStream, tmp_path: Path) -> None:
    """After a crash of the bridge: the same records once more, in this batch and in a later one."""
    batch = envelopes([reading("a", serial) for serial in range(6)])
    topic.append(0, batch)
    topic.append(0, batch.slice(3))
    assert run(topic, tmp_path).repeated == 3
    topic.append(0, batch.slice(4))
    result = run(topic, tmp_path)
    assert (result.readings, result.repeated, result.lost) == (0, 2, 0)
    assert sum(row["repeated"] for row in rows(tmp_path, "quality")) == 5
    assert len(rows(tmp_path, "readings")) == 6


def carry(
    topic: KafkaStream, partition: int, number: int, payload: bytes, properties: dict[str, str] | None = None
) -> None:
    """One message as a bridge carries it; `number`: of the message, the same for each copy."""
    told = tuple((properties or {}).items())
    envelope = KafkaEnvelope("spectrum/a/readings", "a", user_properties=told, message_id=f"1f.0.{number:x}")
    topic.produce(partition, payload, key=b"a", headers=headers(envelope))


@pytest.mark.parametrize("sink", ["delta-rs", pytest.param("delta-spark", marks=NIGHTLY)])
def test_what_breaks_the_contract_is_in_quarantine_once(topic: KafkaStream, tmp_path: Path, sink: str) -> None:
    """Carried twice: in a batch, over partitions, over batches; the job is killed. Without an id each copy counts."""
    conf = {"lapwing.sink": sink}
    for partition, number in ((0, 1), (0, 1), (1, 1), (0, 2)):
        carry(topic, partition, number, b"broken")
    for _ in range(2):
        topic.produce(0, b"broken", key=b"a")
    topic.flush()
    run_until_killed(topic, tmp_path, "quarantine", **conf)  # type: ignore[arg-type]
    result = run(topic, tmp_path, conf=conf)
    assert (result.rows, result.quarantined, result.repeated) == (6, 4, 2)
    carry(topic, 1, 2, b"broken")
    carry(topic, 0, 3, b"broken")
    topic.flush()
    result = run(topic, tmp_path, conf=conf)
    assert (result.rows, result.quarantined, result.repeated) == (2, 1, 1)
    assert [row["payload"] for row in rows(tmp_path, "quarantine")] == [b"broken"] * 5


def test_deadlines_count_once_what_is_carried_twice(topic: KafkaStream, tmp_path: Path) -> None:
    """Misses, dead letters and what is neither; a message that two groups gave up is two letters."""
    given, elsewhere = letter(group="g"), letter(group="h")
    for partition in range(2):
        carry(topic, partition, 1, b"work", given)
        carry(topic, partition, 1, b"work", elsewhere)
        # The broker's own message: nobody gives it an id.
        topic.produce(partition, json.dumps(miss(message_id="1f.0.7")).encode(), key=b"broker")
        carry(topic, partition, 3, b"neither")
    topic.flush()
    deadlines.run_until_killed(topic, tmp_path, "dead_letters")  # type: ignore[arg-type]
    result = run_deadlines(topic.url, tmp_path, draw=False)
    assert (result.rows, result.dead_letters, result.misses, result.quarantined, result.repeated) == (8, 2, 1, 1, 4)
    carry(topic, 0, 1, b"work", given)
    carry(topic, 1, 4, b"work", given)
    topic.flush()
    result = run_deadlines(topic.url, tmp_path, draw=False)
    assert (result.rows, result.dead_letters, result.repeated) == (2, 1, 1)
    assert sum(row["count"] for row in rows(tmp_path, "dead_letters")) == 3
    assert sum(row["missed"] for row in rows(tmp_path, "misses")) == 1
    assert len(rows(tmp_path, "quarantine")) == 1


def test_records_of_strangers_are_readings_too(topic: KafkaStream, tmp_path: Path) -> None:
    """No header at all, other people's, broken ones; and what is no reading keeps its bytes and its key."""
    stamp = 1_767_225_600_123
    for serial, found in enumerate(
        ([], [("trace", b"1")], [("lapwing-ingress-us", b"soon"), ("lapwing-qos", b"\xff")])
    ):
        payload = json.dumps(reading("a", serial)).encode()
        topic.produce(0, payload, key=b"a", headers=found, timestamp=stamp)
    topic.produce(1, b"broken", key=b"someone", timestamp=stamp)
    topic.produce(1, None, key=b"\xff", headers=headers(KafkaEnvelope("spectrum/b", "b")), timestamp=stamp)
    topic.flush()
    result = run(topic, tmp_path)
    assert (result.readings, result.quarantined) == (3, 2)
    assert {row["ingress_at"].timestamp() for row in rows(tmp_path, "readings")} == {stamp / 1000}
    found = {(row["topic"], row["client_id"], row["payload"]) for row in rows(tmp_path, "quarantine")}
    assert found == {(topic.name, "someone", b"broken"), ("spectrum/b", "b", b"")}


def test_a_running_job_catches_up_behind_marks_of_transactions(
    topic: KafkaStream, kafka: SharedKafka, tmp_path: Path
) -> None:
    """A transaction ends with an offset that is no message: is nobody waited for, and is nothing lost or trimmed?

    And what a producer has taken back is in no table.
    """
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "transactional.id": topic.name})
    producer.init_transactions(FLUSH_S)
    job = CoverageJob(topic.url, tmp_path, trigger=0.1).start()
    try:
        for serial in range(2):
            producer.begin_transaction()
            producer.produce(topic.name, json.dumps(reading("a", serial)).encode(), partition=0)
            producer.commit_transaction(FLUSH_S)
            producer.begin_transaction()
            producer.produce(topic.name, json.dumps(reading("taken back", serial)).encode(), partition=0)
            producer.flush(FLUSH_S)
            producer.abort_transaction(FLUSH_S)
            job.wait_caught_up(120)
    finally:
        job.stop()
    result = job.result(draw=False)
    assert (result.rows, result.readings, result.lost, result.trimmed) == (2, 2, 0, 0)


def test_new_partitions_are_read_from_their_beginning(topic: KafkaStream, tmp_path: Path) -> None:
    topic.append(0, envelopes([reading("a", 0)]))
    run(topic, tmp_path)
    topic.add_partitions(3)
    topic.append(2, envelopes([reading("b", 0), reading("b", 1)]))
    shutil.rmtree(tmp_path / "checkpoint")
    assert run(topic, tmp_path).readings == 2
    assert run(topic, tmp_path).readings == 0


def test_deadlines_read_kafka_too(topic: KafkaStream, tmp_path: Path) -> None:
    deadlines.send(topic, 0, 10)  # type: ignore[arg-type]
    deadlines.run_until_killed(topic, tmp_path, "misses")  # type: ignore[arg-type]
    shutil.rmtree(tmp_path / "checkpoint")
    deadlines.send(topic, 10, 5)  # type: ignore[arg-type]
    run_deadlines(topic.url, tmp_path, draw=False, conf={"lapwing.max_rows_per_batch": "20"})
    deadlines.check(tmp_path, 15)


@pytest.mark.slow
def test_the_command_reads_kafka(topic: KafkaStream, tmp_path: Path, spark: SparkSession) -> None:
    """In a process of its own, whose Spark is started with the jars."""
    send(topic, 0, 10)  # type: ignore[arg-type]
    words = ["pipeline", "run", "coverage", "--source", topic.url, "--out", str(tmp_path), "--trigger", "available-now"]
    command = [sys.executable, "-m", "lapwing", *words, "--conf", "spark.driver.memory=1g"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert ended.returncode == 0, ended.stderr
    check(tmp_path, 10)
