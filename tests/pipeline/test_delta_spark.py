"""Written with Delta's own jar, as on a cluster, here on one machine: is each reading in its table exactly once?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from messages import envelopes, reading
from served_stream import ServedStream
from test_coverage_job import ODD, rows

from lapwing.pipeline.jobs.coverage import run_coverage
from lapwing.pipeline.jobs.progress import JobResult
from lapwing.pipeline.sinks.delta_spark import SparkDeltaSink

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(600), pytest.mark.usefixtures("spark")]


def run(stream: ServedStream, out: Path, sink: str = "delta-spark", **arguments: Any) -> JobResult:
    return run_coverage(stream.url, out, draw=False, conf={"lapwing.sink": sink}, **arguments)


def test_each_reading_is_in_its_table_once(stream: ServedStream, tmp_path: Path) -> None:
    """And a path is a path, in SQL too."""
    out = tmp_path / ODD
    stream.append(0, envelopes([*(reading("a", n) for n in range(10)), b"broken"]))
    assert run(stream, out).rows_in_tables["readings"] == 10
    assert run(stream, out, "delta-rs").rows == 0
    assert (len(rows(out, "readings")), len(rows(out, "quarantine"))) == (10, 1)


def test_a_batch_of_few_partitions_is_not_left_out(stream: ServedStream, tmp_path: Path) -> None:
    """Its own offsets add up to less than those of the batch before, for the other partition is not in it."""
    for partition, device in enumerate("ab"):
        stream.append(partition, envelopes([reading(device, n) for n in range(10)]))
    assert run(stream, tmp_path).readings == 20
    stream.append(0, envelopes([reading("a", 10), b"broken"]))
    assert run(stream, tmp_path).rows_in_tables["readings"] == 21
    assert run(stream, tmp_path, "delta-rs").rows == 0
    assert (len(rows(tmp_path, "readings")), len(rows(tmp_path, "quarantine"))) == (21, 1)
    assert sum(row["received"] for row in rows(tmp_path, "quality")) == 21


def test_a_batch_with_nothing_for_most_of_the_tables_is_done_in_all(stream: ServedStream, tmp_path: Path) -> None:
    """What delta-rs has begun goes on with Spark, and back."""
    stream.append(0, envelopes([reading("a", n) for n in range(10)]))
    assert run(stream, tmp_path, "delta-rs").readings == 10
    for count in (1, 2):
        stream.append(1, envelopes([b"broken"]))
        assert run(stream, tmp_path).rows == 1
        assert len(rows(tmp_path, "quarantine")) == count
    assert run(stream, tmp_path, "delta-rs").rows == 0
    assert (len(rows(tmp_path, "readings")), len(rows(tmp_path, "quarantine"))) == (10, 2)


def test_sums_that_are_deleted_while_a_batch_is_made_do_not_come_back(
    stream: ServedStream, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MERGE goes by the table as it is then; so must what it is given."""
    stream.append(0, envelopes([reading("a", n) for n in range(10)]))
    assert run(stream, tmp_path).readings == 10
    original = SparkDeltaSink.merge_rows

    def meanwhile(self: SparkDeltaSink, *arguments: Any) -> int:
        if self.record.name == "quality":
            DeltaTable(self.folder).delete("device = 'a'")
            monkeypatch.setattr(SparkDeltaSink, "merge_rows", original)
        return original(self, *arguments)

    monkeypatch.setattr(SparkDeltaSink, "merge_rows", meanwhile)
    stream.append(0, envelopes([reading("a", 10)]))
    assert run(stream, tmp_path).readings == 1
    assert sum(row["received"] for row in rows(tmp_path, "quality")) == 1
    assert len(rows(tmp_path, "readings")) == 11
