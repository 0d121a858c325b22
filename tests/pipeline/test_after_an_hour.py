"""The job was off for an hour: does ``available-now`` catch up in bounded batches, and end while more arrives?"""

from __future__ import annotations

import uuid
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from drive import Cell, Drive, Sent, Tables
from kafka_stream import KafkaStream
from served_stream import ServedStream
from test_coverage_job import rows

from lapwing.pipeline.jobs.coverage import CoverageJob, run_coverage
from lapwing.pipeline.jobs.progress import BatchProgress

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(600), pytest.mark.usefixtures("spark")]
HOUR_S = 3_600
ROWS_MAX = 1_500


@pytest.fixture(params=["stream", "kafka"])
def drive(request: pytest.FixtureRequest) -> Drive:
    source: ServedStream | KafkaStream
    if request.param == "kafka":
        source = KafkaStream(request.getfixturevalue("kafka"), f"t-{uuid.uuid4()}")
    else:
        source = request.getfixturevalue("stream")
    return Drive(source)


def test_an_hour_is_caught_up_in_bounded_batches_while_more_arrives(drive: Drive, tmp_path: Path) -> None:
    drive.on(600)
    job = CoverageJob(drive.stream.url, tmp_path, trigger=0.1).start()
    try:
        job.wait_caught_up()
    finally:
        job.stop()
    check(tmp_path, drive.sent)
    drive.on(HOUR_S)
    waited, told = list(drive.sent), list[BatchProgress]()

    def meanwhile(batch: BatchProgress) -> None:
        told.append(batch)
        if len(told) <= 3:
            drive.on(300)

    run_now(drive, tmp_path, meanwhile)
    assert len(told) >= 6
    assert max(each.rows for each in told) <= ROWS_MAX
    check(tmp_path, waited)
    assert len(drive.sent) > len(waited) + ROWS_MAX
    left = run_now(drive, tmp_path, lambda _: None)
    assert left == len(drive.sent) - len(waited), "what arrived after the start was left for this run"
    check(tmp_path, drive.sent)


def run_now(drive: Drive, out: Path, progress: Any) -> int:
    conf = {"lapwing.max_rows_per_batch": str(ROWS_MAX)}
    return run_coverage(drive.stream.url, out, conf=conf, progress=progress, draw=False).rows


def check(out: Path, sent: list[Sent]) -> None:
    """The tables, against a second computation of them."""
    expected = Tables(sent)
    found = [(row["device"], row["serial"]) for row in rows(out, "readings")]
    assert len(found) == len(expected.readings)
    assert set(found) == expected.readings
    assert Counter(row["payload"] for row in rows(out, "quarantine")) == Counter(expected.broken)
    assert qualities(out) == expected.quality
    assert cells(out) == expected.coverage
    of_minutes = {minute: (len(us), min(us), max(us)) for minute, us in expected.latency_us.items()}
    assert latencies(out) == of_minutes


def qualities(out: Path) -> dict[tuple[str, datetime], Counter[str]]:
    found = {}
    for row in rows(out, "quality"):
        assert (row["lost"], row["reordered"]) == (row["gap"] - row["recovered"], row["recovered"])
        counts = {name: row[name] for name in ("received", "gap", "recovered", "repeated")}
        found[row["device"], row["minute"]] = Counter(counts)
    return found


def cells(out: Path) -> dict[tuple[datetime, str], Cell]:
    found = {}
    for row in rows(out, "coverage"):
        rsrp_dbm = Counter({bar["dbm"]: bar["count"] for bar in row["rsrp_histogram"]})
        assert row["rsrp_sum_dbm"] == sum(dbm * count for dbm, count in rsrp_dbm.items())
        assert row["rsrp_count"] == rsrp_dbm.total()
        assert row["occupied_count"] == row["samples"]
        cell = Cell(row["samples"], row["occupied_sum_ppb"], rsrp_dbm, row["last_seen"])
        found[row["window_start"], row["tile"]] = cell
    return found


def latencies(out: Path) -> dict[datetime, tuple[int, int, int]]:
    """Of the first copies, from the device to the broker: how many, the shortest, the longest."""
    found = {}
    for row in rows(out, "latency"):
        if row["route"] == "sent->ingress":
            assert row["count"] == sum(bar["count"] for bar in row["histogram"])
            found[row["minute"]] = (row["count"], row["min_us"], row["max_us"])
    return found
