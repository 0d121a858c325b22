"""Is every reading in every table exactly once where a batch of late ones is killed after any commit? Without Spark.

`test_coverage_job.py` does the same with Spark, and `test_killed.py` with processes of their own. Here what tasks do is
called in this process, so that there may be many windows, which late readings then change.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from killed import KilledError, killed_at
from messages import START, envelopes, reading

from lapwing.pipeline.jobs import coverage_tables
from lapwing.pipeline.jobs.coverage_tables import CoverageTables
from lapwing.pipeline.jobs.digest import Digest, Plan, _answers, _gathered
from lapwing.pipeline.report.tables import read
from lapwing.pipeline.sinks import layout
from lapwing.pipeline.sinks.delta import DeltaSink
from lapwing.pipeline.transforms.parse import PARSED, parse_batch

POINTS = ["readings", "quarantine", "coverage", "latency", "quality", "seen"]
WINDOWS = 200


@pytest.fixture(autouse=True)
def without_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks run here; and files are small, so that late readings meet many."""

    def digested(rows: Any, plan: Plan) -> Digest:
        return _gathered(answer for part in parts_of(rows) for answer in _answers(part, plan))

    monkeypatch.setattr(coverage_tables, "digest", digested)
    monkeypatch.setattr(layout, "FILE_BYTES_MIN", 2 * 1024)


def parts_of(rows: pa.Table) -> Iterator[pa.Table]:
    """As Spark brings each device's together."""
    for device in ("a", "b", "someone"):
        yield rows.filter(pa.compute.equal(rows["client_id"], device))


def batch(first_offset: int, ingress: datetime, *payloads: dict[str, Any] | bytes) -> Any:
    found = pa.Table.from_batches([parse_batch(envelopes(payloads, ingress=ingress))])
    columns = {name: found[name] for name in found.column_names}
    columns["offset"] = pa.array(range(first_offset, first_offset + len(payloads)), pa.int64())
    columns["observed_at"] = pa.array([ingress] * len(payloads), pa.timestamp("us", "UTC"))
    return pa.table([columns[name] for name in PARSED.names], schema=PARSED.arrow_schema())


def at(window: int, device: str, serial: int) -> dict[str, Any]:
    return reading(device, serial, at=START + timedelta(minutes=15 * window), rsrp_dbm=-80 - serial % 20)


DAYS_OF_READINGS = [at(window, device, window) for window in range(WINDOWS) for device in "ab"]
LATE: list[dict[str, Any] | bytes] = [
    at(3, "a", WINDOWS),
    at(77, "a", WINDOWS + 1),
    at(77, "b", WINDOWS),
    b'{"device": "a"}',
    at(5, "a", 5),
]


def tables(out: Path, **more: Any) -> CoverageTables:
    made = CoverageTables(out / "tables", "stream", [0], served_dbm=-110, **more)
    made.refresh()
    return made


def fill(out: Path) -> Any:
    """What has come in time; gives what comes late."""
    tables(out).write(batch(0, START + timedelta(days=3), *DAYS_OF_READINGS), 0)
    tables(out).tidy()
    return batch(len(DAYS_OF_READINGS), START + timedelta(days=4), *LATE)


def everything(out: Path) -> dict[str, list[str]]:
    return {name: sorted(map(str, read(out, name).to_pylist())) for name in POINTS}


def test_what_comes_late_is_there_once_wherever_it_was_killed(tmp_path: Path) -> None:
    late = fill(tmp_path / "whole")
    done = tables(tmp_path / "whole").write(late, 1)
    assert (done.readings, done.repeated, done.quarantined, done.lost) == (3, 1, 1, 0)
    wanted = everything(tmp_path / "whole")
    assert sum(row["samples"] for row in read(tmp_path / "whole", "coverage").to_pylist()) == 2 * WINDOWS + 3
    out = tmp_path / "killed"
    late = fill(out)
    for point in POINTS:
        with killed_at(point) as committed, pytest.raises(KilledError):
            tables(out, committed=committed).write(late, 1)
    assert tables(out).write(late, 1).rows == 0
    assert everything(out) == wanted


def test_late_readings_leave_other_windows_alone(tmp_path: Path) -> None:
    late = fill(tmp_path)
    sink = tables(tmp_path)._sinks["coverage"]
    before = set(sink.files())
    assert len(before) > 3
    tables(tmp_path).write(late, 1)
    after = set(DeltaSink(sink.folder, sink.record, ("window_start",)).files())
    assert len(before - after) <= 2
