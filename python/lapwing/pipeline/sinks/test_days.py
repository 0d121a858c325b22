"""Do rows of a day lie in files of their own, and in tables of before as they did?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from lapwing.contracts.tables import QUARANTINE
from lapwing.pipeline.jobs import answers
from lapwing.pipeline.jobs.answers import NewRows, file_answer, table_of
from lapwing.pipeline.jobs.task_plan import Target
from lapwing.pipeline.report.tables import read
from lapwing.pipeline.sinks.delta import DeltaSink

MIDNIGHT = datetime(2026, 3, 2, tzinfo=UTC)
SCHEMA = pa.schema([field for field in QUARANTINE.arrow_schema() if field.name != "day"])


def row(offset: int, ingress: datetime | None) -> dict[str, Any]:
    """One message that broke the contract; the batch was of the day before."""
    said = {"reason": "not_json", "topic": "t", "client_id": "c", "payload": b"x", "partition": 0, "offset": offset}
    return {**dict.fromkeys(SCHEMA.names), **said, "ingress_at": ingress, "observed_at": MIDNIGHT - timedelta(days=1)}


@pytest.fixture(params=[answers.FEW_ROWS, 1])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows may be few, which the driver writes, or many, which their task does."""
    monkeypatch.setattr(answers, "FEW_ROWS", request.param)


def write(folder: Path, *, by_day: bool) -> DeltaSink:
    sink = DeltaSink(folder, QUARANTINE)
    at = [MIDNIGHT - timedelta(microseconds=1), MIDNIGHT, MIDNIGHT + timedelta(hours=23), None]
    rows = pa.Table.from_pylist([row(offset, each) for offset, each in enumerate(at)], SCHEMA)
    told = file_answer("quarantine", rows, QUARANTINE, {"quarantine": Target(str(folder), by_day)})
    new = NewRows()
    for name, body in told:
        assert table_of(name) == "quarantine"
        new.take(name, body)
    sink.append(new.written(Target(str(folder), by_day)), "s", {0: 4})
    return sink


@pytest.mark.usefixtures("few")
def test_each_day_has_its_files(tmp_path: Path) -> None:
    sink = write(tmp_path / "tables" / "quarantine", by_day=True)
    assert sink.is_by_day
    days = sorted(Path(file).parent.name for file in sink.files())
    assert days == ["day=2026-03-01", "day=2026-03-02"]
    assert sorted(read(tmp_path, "quarantine", ["offset"])["offset"].to_pylist()) == [0, 1, 2, 3]
    deleted = DeltaTable(sink.folder).delete("day < '2026-03-02'")
    assert (deleted["num_added_files"], deleted["num_removed_files"]) == (0, 1)  # no file was written anew
    sink.refresh()
    assert sorted(sink.read()["offset"].to_pylist()) == [1, 2]


@pytest.mark.usefixtures("few")
def test_a_table_of_before_goes_on_as_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "quarantine"
    DeltaTable.create(folder, pa.schema(list(QUARANTINE.arrow_schema())))
    sink = write(folder, by_day=False)
    assert not sink.is_by_day
    assert [Path(file).parent for file in sink.files()] == [folder]
    assert sorted(sink.read()["day"].to_pylist()) == ["2026-03-01", "2026-03-01", "2026-03-02", "2026-03-02"]


def test_few_rows_of_all_tasks_become_one_file(tmp_path: Path) -> None:
    sink, new = DeltaSink(tmp_path / "quarantine", QUARANTINE), NewRows()
    target = Target(str(sink.folder), sink.is_by_day)
    for task in range(4):
        rows = pa.Table.from_pylist([row(task, MIDNIGHT)], SCHEMA)
        for answer in file_answer("quarantine", rows, QUARANTINE, {"quarantine": target}):
            new.take(*answer)
    assert not list(sink.folder.rglob("*.parquet"))
    sink.append(new.written(target), "s", {0: 4})
    assert len(sink.files()) == 1
    assert sorted(sink.read()["offset"].to_pylist()) == [0, 1, 2, 3]
