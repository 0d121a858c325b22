"""Is every reading in the tables exactly once, whatever happens to the job?"""

from __future__ import annotations

import json
import shutil
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from killed import Start, killed_after_each, until_killed
from messages import START, envelopes, reading
from pyspark.sql import SparkSession
from served_stream import ServedStream

from lapwing.contracts.tables import TABLES
from lapwing.errors import ConnectError, OffsetTrimmedError, StreamUnknownError
from lapwing.pipeline.errors import StreamRecreatedError, TableError
from lapwing.pipeline.jobs import seen
from lapwing.pipeline.jobs.coverage import CoverageJob, run_coverage
from lapwing.pipeline.jobs.progress import BatchProgress, JobResult
from lapwing.pipeline.report.tables import read

pytestmark = [pytest.mark.timeout(300), pytest.mark.usefixtures("spark")]
ODD = "my tables, ü#100%?&='`*"
POINTS = ["readings", "quarantine", "coverage", "latency", "quality", "seen", "batch"]
"""Tables in the order of their commits, where these are made one after the other; then Spark's own."""
KEEPS_OR_NOT = pytest.mark.parametrize("keep_checkpoint", [True, pytest.param(False, marks=pytest.mark.nightly)])
"""Whether the checkpoint is there when the job is started again."""


def rows(out: Path, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read(out, table).to_pylist()
    return found


def run(stream: ServedStream, out: Path, **arguments: Any) -> JobResult:
    return run_coverage(stream.url, out, draw=False, **arguments)


def send(stream: ServedStream, first: int, count: int) -> None:
    """Two devices, one per partition; every fifth message comes twice, serial 3 never."""
    for partition, device in enumerate(("a", "b")):
        sent: list[Any] = []
        for serial in range(first, first + count):
            if serial != 3:
                sent += [reading(device, serial)] * (2 if serial % 5 == 0 else 1)
            if serial % 7 == 0:
                sent.append(f"broken {device} {serial}".encode())
        stream.append(partition, envelopes(sent))


def check(out: Path, count: int) -> None:
    """The tables after `send` has sent serials 0..count."""
    for check_table in CHECKS.values():
        check_table(out, count)


def serials_of(count: int) -> list[int]:
    return [n for n in range(count) if n != 3]


def check_readings(out: Path, count: int) -> None:
    found = sorted((row["device"], row["serial"]) for row in rows(out, "readings"))
    assert found == [(device, serial) for device in "ab" for serial in serials_of(count)]


def check_quarantine(out: Path, count: int) -> None:
    broken = sorted(row["payload"].decode() for row in rows(out, "quarantine"))
    assert broken == sorted(f"broken {device} {n}" for device in "ab" for n in range(0, count, 7))


def check_quality(out: Path, count: int) -> None:
    quality = rows(out, "quality")
    twice = len(range(0, count, 5))
    assert sum(row["received"] for row in quality) == 2 * (len(serials_of(count)) + twice)
    assert sum(row["repeated"] for row in quality) == 2 * twice
    assert (sum(row["gap"] for row in quality), sum(row["recovered"] for row in quality)) == (2, 0)
    assert sum(row["lost"] for row in quality) == 2


def check_latency(out: Path, count: int) -> None:
    latency = [row for row in rows(out, "latency") if row["route"] == "sent->ingress"]
    assert sum(row["count"] for row in latency) == 2 * len(serials_of(count))
    assert sum(bar["count"] for row in latency for bar in row["histogram"]) == 2 * len(serials_of(count))


def check_coverage(out: Path, count: int) -> None:
    coverage = rows(out, "coverage")
    assert sum(row["samples"] for row in coverage) == 2 * len(serials_of(count))
    assert sum(bar["count"] for row in coverage for bar in row["rsrp_histogram"]) == 2 * len(serials_of(count))


CHECKS = {
    "readings": check_readings,
    "quarantine": check_quarantine,
    "quality": check_quality,
    "latency": check_latency,
    "coverage": check_coverage,
}
"""By table."""


def run_until_killed(stream: ServedStream, out: Path, point: str, **conf: str) -> None:
    until_killed(starting(stream, out, **conf), point)


def starting(stream: ServedStream, out: Path, **conf: str) -> Start:
    """Starts a job over what is there."""
    return lambda committed: CoverageJob(
        stream.url, out, trigger="available-now", conf=conf, committed=committed
    ).start()


def test_everything_is_in_its_table(stream: ServedStream, tmp_path: Path) -> None:
    """And a path is a path, of the tables and of Spark's checkpoint."""
    out = tmp_path / ODD
    send(stream, 0, 20)
    told: list[BatchProgress] = []
    result = run(stream, out, progress=told.append, checkpoint=tmp_path / f"{ODD} checkpoint")
    check(out, 20)
    assert any((tmp_path / f"{ODD} checkpoint" / "commits").iterdir())
    assert (result.rows, result.readings, result.quarantined, result.lost) == (52, 38, 6, 2)
    assert result.repeated == 8
    assert result.rows_in_tables["readings"] == 38
    assert [each.rows for each in told] == [52]
    for name, record in TABLES.items():
        fields = DeltaTable(out / "tables" / name).schema().fields
        assert [(field.name, field.nullable) for field in fields] == [(f.name, f.nullable) for f in record]


def test_every_message_counts_somewhere_and_nothing_vanishes(stream: ServedStream, tmp_path: Path) -> None:
    """sent = readings + repeated + quarantined + missing; and what was before the job began is nobody's loss."""
    stream.append(0, envelopes([reading("b", n) for n in range(40, 43)]))
    sent: list[Any] = [reading("a", 0), reading("a", 1), reading("a", 1), reading("a", 5), reading("a", 2**63 - 1)]
    sent += [reading("a", 1, rsrp_dbm=-120), reading("a", 6, sent_at="yesterday"), reading("a", 7), b"broken"]
    stream.append(0, envelopes([*sent, reading("b", 43), reading("b", 45)]))
    conf = {"lapwing.start": '{"0": 3}'}
    done = run(stream, tmp_path, conf={**conf, "lapwing.max_rows_per_batch": "5"})
    assert (done.rows, done.readings, done.repeated, done.quarantined) == (11, 6, 1, 4)
    assert (done.lost, done.before_start) == (4, 43)
    quality = rows(tmp_path, "quality")
    total = {(row["device"]): row for row in quality}
    assert {name: total["a"][name] for name in ("received", "missing", "quarantined", "before_start")} == {
        "received": 5, "missing": 3, "quarantined": 3, "before_start": 0,
    }  # fmt: skip
    assert (total["b"]["missing"], total["b"]["before_start"]) == (1, 43)
    told = [row for row in rows(tmp_path, "quarantine") if row["payload"] != b"broken"]
    kept = {row["reason"]: json.loads(row["payload"]) for row in told}
    assert (kept["serial_reused"]["rsrp_dbm"], kept["serial_jump"]["serial"]) == (-120, 2**63 - 1)
    assert kept["not_a_time"]["serial"] == 6
    assert all(row["client_id"] for row in rows(tmp_path, "quarantine"))


def test_batches_add_up(stream: ServedStream, tmp_path: Path) -> None:
    send(stream, 0, 10)
    first = run(stream, tmp_path, conf={"lapwing.max_rows_per_batch": "14"})
    send(stream, 10, 15)
    second = run(stream, tmp_path, conf={"lapwing.max_rows_per_batch": "20"})
    assert (first.batches, second.batches) == (2, 2)
    assert run(stream, tmp_path).rows == 0
    check(tmp_path, 25)


@pytest.mark.slow
@KEEPS_OR_NOT
def test_a_job_that_ends_after_a_commit_repeats_nothing(
    stream: ServedStream, tmp_path: Path, keep_checkpoint: bool
) -> None:
    """After each of them in turn; also where the checkpoint is deleted."""
    start, more = starting(stream, tmp_path), partial(send, stream)
    sent = killed_after_each(POINTS, start, more, tmp_path, CHECKS, keep_checkpoint=keep_checkpoint)
    done = sum(held.next_offset for held in stream.partitions)
    send(stream, sent, 10)
    result = run(stream, tmp_path)
    check(tmp_path, sent + 10)
    if not keep_checkpoint:  # then what the last one had begun was a batch of all
        assert result.rows == sum(held.next_offset for held in stream.partitions) - done


@KEEPS_OR_NOT
def test_a_job_that_found_nothing_is_started_again(stream: ServedStream, tmp_path: Path, keep_checkpoint: bool) -> None:
    """Spark commits a batch that brings nothing, so that the checkpoint is older than every row."""
    conf = {"lapwing.start": "latest"}
    stream.append(0, envelopes([reading("z", 0)]))  # before the beginning
    assert run(stream, tmp_path, conf=conf).rows == 0
    if not keep_checkpoint:
        shutil.rmtree(tmp_path / "checkpoint")
    send(stream, 0, 10)
    run_until_killed(stream, tmp_path, "readings", **conf)
    run(stream, tmp_path, conf=conf)
    check(tmp_path, 10)


def test_an_older_checkpoint_does_no_harm(stream: ServedStream, tmp_path: Path) -> None:
    send(stream, 0, 10)
    run(stream, tmp_path)
    shutil.copytree(tmp_path / "checkpoint", tmp_path / "older")
    send(stream, 10, 10)
    run(stream, tmp_path)
    send(stream, 20, 5)
    run(stream, tmp_path, checkpoint=tmp_path / "older")
    check(tmp_path, 25)


def test_device_clocks_may_be_months_apart(stream: ServedStream, tmp_path: Path) -> None:
    times = [START, START - timedelta(days=200), START + timedelta(days=40), START - timedelta(days=90)]
    stream.append(0, envelopes([reading("d", n, at=at) for n, at in enumerate(times)]))
    run(stream, tmp_path, conf={"lapwing.max_rows_per_batch": "1"})
    assert len(rows(tmp_path, "readings")) == 4
    assert sorted(row["window_start"] for row in rows(tmp_path, "coverage")) == sorted(times)


def test_late_readings_fill_gaps_over_batches(stream: ServedStream, tmp_path: Path) -> None:
    minute = timedelta(minutes=1)
    for ingress, serials in ((START, [0, 4]), (START + minute, [2, 3, 4, 1])):
        stream.append(0, envelopes([reading("d", n) for n in serials], ingress=ingress))
        run(stream, tmp_path)
    first, second = sorted(rows(tmp_path, "quality"), key=lambda row: row["minute"])
    assert (first["received"], first["gap"], first["lost"]) == (2, 3, 3)
    assert (second["received"], second["recovered"], second["lost"], second["repeated"]) == (4, 3, -3, 1)
    assert second["reordered"] == 3


def test_a_running_job_catches_up_and_stops(stream: ServedStream, tmp_path: Path) -> None:
    job = CoverageJob(stream.url, tmp_path, trigger=0.1).start()
    try:
        for first in (0, 10):
            send(stream, first, 10)
            job.wait_caught_up(120)
    finally:
        job.stop()
    check(tmp_path, 20)
    assert job.result(draw=False).readings == 38


def test_seen_is_made_compact(stream: ServedStream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Is what was seen in many batches still known when its files have become one?"""
    monkeypatch.setattr(seen, "_FILES_MAX", 3)
    stream.append(0, envelopes([reading("d", n) for n in range(5)]))
    assert run(stream, tmp_path, conf={"lapwing.max_rows_per_batch": "1"}).batches == 5
    assert len(DeltaTable(tmp_path / "tables" / "seen").file_uris()) == 2
    stream.append(0, envelopes([reading("d", n) for n in range(6)]))
    assert run(stream, tmp_path).repeated == 5
    assert len(rows(tmp_path, "readings")) == 6


def test_what_was_trimmed_is_counted_or_stops_the_job(stream: ServedStream, tmp_path: Path) -> None:
    stream.append(0, envelopes([reading("d", n) for n in range(13)]))
    stream.trim(0, 3)  # before the job's first look: nothing is missing
    first = run(stream, tmp_path)
    assert (first.trimmed, first.readings) == (0, 10)
    stream.append(0, envelopes([reading("d", n) for n in range(13, 23)]))
    stream.trim(0, 17)
    with pytest.raises(OffsetTrimmedError, match="4 messages are gone"):
        run(stream, tmp_path)
    result = run(stream, tmp_path, conf={"lapwing.on_trimmed": "skip"})
    assert (result.trimmed, result.readings, result.lost, result.before_start) == (4, 6, 0, 4)


def test_what_was_trimmed_of_a_stream_that_had_nothing_yet(stream: ServedStream, tmp_path: Path) -> None:
    """The job began at 0, and read nothing: is it told all the same?"""
    assert run(stream, tmp_path).readings == 0
    shutil.rmtree(tmp_path / "checkpoint")
    stream.append(0, envelopes([reading("d", n) for n in range(10)]))
    stream.trim(0, 4)
    with pytest.raises(OffsetTrimmedError, match="4 messages are gone"):
        run(stream, tmp_path)
    result = run(stream, tmp_path, conf={"lapwing.on_trimmed": "skip"})
    assert (result.trimmed, result.readings) == (4, 6)


def test_a_recreated_stream_stops_the_job_and_a_new_checkpoint_goes_on(stream: ServedStream, tmp_path: Path) -> None:
    send(stream, 0, 10)
    run(stream, tmp_path)
    stream.recreate()
    send(stream, 10, 5)
    with pytest.raises(StreamRecreatedError):
        run(stream, tmp_path)
    run(stream, tmp_path, checkpoint=tmp_path / "new")
    check(tmp_path, 15)


def test_what_cannot_be_used_is_told(stream: ServedStream, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(TableError, match="--out cannot be written"):
        run(stream, tmp_path / "file")
    with pytest.raises(StreamUnknownError):
        run_coverage(stream.url.replace("readings", "other"), tmp_path / "out", draw=False)
    with CoverageJobRunning(stream, tmp_path / "busy"), pytest.raises(TableError, match="another job"):
        run(stream, tmp_path / "busy")
    stream.close()
    with pytest.raises(ConnectError, match="nobody answers"):
        run(stream, tmp_path / "out", conf={"lapwing.retry_s": "0"})


def test_a_checkpoint_ahead_of_its_tables_is_told(stream: ServedStream, tmp_path: Path) -> None:
    send(stream, 0, 5)
    run(stream, tmp_path)
    shutil.rmtree(tmp_path / "tables")
    with pytest.raises(TableError, match="ahead of the tables"):
        run(stream, tmp_path)


class CoverageJobRunning:
    """A job at work."""

    def __init__(self, stream: ServedStream, out: Path) -> None:
        self.job = CoverageJob(stream.url, out)

    def __enter__(self) -> None:
        self.job.start()

    def __exit__(self, *_: object) -> None:
        self.job.stop()


def test_the_session_is_the_one_of_the_run(spark: SparkSession) -> None:
    assert spark.sparkContext.master.endswith(",4]")
