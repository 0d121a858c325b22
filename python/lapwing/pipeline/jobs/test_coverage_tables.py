"""Do the tables say where a job goes on, and does making few files of many change nothing?"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from lapwing.contracts.tables import QUARANTINE, SEEN
from lapwing.pipeline.jobs.coverage_tables import CoverageTables
from lapwing.pipeline.jobs.late_tables import LateTables
from lapwing.pipeline.sinks.delta import DeltaSink
from lapwing.pipeline.sinks.files import write_file, write_files

STREAM = "stream"
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def coverage_tables(out: Path) -> CoverageTables:
    return CoverageTables(out, STREAM, [0, 1], served_dbm=-110)


def late_tables(out: Path) -> LateTables:
    return LateTables(out, STREAM, [0, 1])


def quarantined(offset: int) -> pa.Table:
    """One message that broke the contract."""
    row = {
        "reason": "not_json",
        "field": None,
        "topic": "t",
        "client_id": "c",
        "payload": b"%d" % offset,
        "ingress_at": NOON,
        "appended_at": NOON,
        "observed_at": NOON,
        "partition": 0,
        "offset": offset,
    }
    return pa.Table.from_pylist([row], pa.schema(list(QUARANTINE.arrow_schema())))


def fill(out: Path) -> None:
    """Three batches in ``quarantine``, two of them in ``seen``."""
    quarantine, seen = DeltaSink(out / "quarantine", QUARANTINE), DeltaSink(out / "seen", SEEN)
    mark = pa.Table.from_pylist(
        [{"device": "d", "boot": 0, "block": 0, "mask": 1}], pa.schema(list(SEEN.arrow_schema()))
    )
    for batch in range(3):
        quarantine.append(write_files(quarantined(batch), quarantine.folder, by_day=True), STREAM, {0: batch + 1})
        if batch < 2:
            seen.append([write_file(mark, seen.folder)], STREAM, {0: batch + 1})


def test_a_job_goes_on_where_seen_stands_and_first_ends_a_batch_that_was_begun(tmp_path: Path) -> None:
    assert coverage_tables(tmp_path).untouched()
    fill(tmp_path)
    begun = coverage_tables(tmp_path).begun()
    assert (begun.start, begun.until, begun.known) == ({0: 2, 1: 0}, {0: 3, 1: 0}, True)
    assert not coverage_tables(tmp_path).untouched()


@pytest.mark.parametrize("tables", [coverage_tables, late_tables])
def test_at_0_a_job_has_begun_where_the_stream_was_whole(
    tmp_path: Path, tables: Callable[[Path], CoverageTables | LateTables]
) -> None:
    """Else 0 says: at the oldest that there is; and a table of before this was written down says no more."""
    tables(tmp_path).begin({0: 0, 1: 0}, {0: 0, 1: 7})
    begun = tables(tmp_path).begun()
    assert (begun.start, begun.known) == ({0: 0, 1: 0}, True)
    assert [begun.has_begun(partition) for partition in (0, 1)] == [True, False]
    DeltaSink(tmp_path / "older" / "seen", SEEN).append([], STREAM, {0: 0, 1: 3})
    older = tables(tmp_path / "older").begun()
    assert [older.has_begun(partition) for partition in (0, 1)] == [False, True]


@pytest.mark.parametrize("tables", [coverage_tables, late_tables])
def test_many_files_become_few_and_say_the_same(
    tmp_path: Path, tables: Callable[[Path], CoverageTables | LateTables]
) -> None:
    """But those of ``seen``, which is made compact as it is written."""
    fill(tmp_path)
    before = tables(tmp_path).begun()
    tables(tmp_path).tidy(every_batches=1)
    quarantine, seen = DeltaSink(tmp_path / "quarantine", QUARANTINE), DeltaSink(tmp_path / "seen", SEEN)
    assert (len(quarantine.files()), len(seen.files())) == (1, 2)
    assert sorted(quarantine.read()["payload"].to_pylist()) == [b"0", b"1", b"2"]
    assert tables(tmp_path).begun() == before


def test_files_are_made_few_once_in_so_many_batches(tmp_path: Path) -> None:
    fill(tmp_path)
    tables = coverage_tables(tmp_path)
    files = []
    for _ in range(3):
        tables.tidy(every_batches=3)
        files.append(len(DeltaSink(tmp_path / "quarantine", QUARANTINE).files()))
    assert files == [3, 3, 1]
