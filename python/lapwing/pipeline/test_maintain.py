"""Do tables get small, and smaller where it is asked for, and does a job go on with them?"""

from __future__ import annotations

import gc
import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from lapwing.contracts.tables import KEYS
from lapwing.errors import ConfigError
from lapwing.pipeline import maintain as module
from lapwing.pipeline.errors import TableError
from lapwing.pipeline.jobs.folder import JobFolder
from lapwing.pipeline.maintain import OF_DEVICES, maintain
from lapwing.pipeline.migrate import migrate
from lapwing.pipeline.report.tables import read
from lapwing.pipeline.sinks.delta import DeltaSink
from lapwing.pipeline.sinks.files import write_file, write_files
from lapwing.pipeline.tables_at_hand import RECORDS
from lapwing.pipeline.transforms.seen_rows import SEEN_SCHEMA, joined_marks, reading_marks

AGES = 10**12
"""So many days no calendar has."""
NOW = datetime(2026, 3, 10, 12, 0, tzinfo=UTC)
BLOCKS = [("device", "ascending"), ("block", "ascending")]
_VALUES: dict[str, Any] = {
    "string": "x",
    "binary": b"x",
    "int32": 0,
    "int64": 0,
    "float64": 0.0,
    "time": NOW,
    "rows": [],
}


def opened(out: Path, name: str) -> DeltaSink:
    return DeltaSink(out / "tables" / name, RECORDS[name], KEYS.get(name, ()))


def add(out: Path, name: str, **values: Any) -> None:
    record = RECORDS[name]
    row = {field.name: None if field.nullable else _VALUES[field.kind] for field in record} | values
    sink = opened(out, name)
    rows = pa.Table.from_pylist([row], pa.schema(list(record.arrow_schema())))
    sink.append(write_files(rows, sink.folder, by_day=sink.is_by_day), "s", {0: 1})


@pytest.mark.parametrize("name", ["~", "s3:x", "file:x", "a b/../#%"])
def test_a_relative_path_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Neither a home nor a URL; and days that no calendar has are none."""
    monkeypatch.chdir(tmp_path)
    Path("a b").mkdir()
    add(Path(name).absolute(), "quality", device="d", minute=NOW)
    assert [each.rows_deleted for each in maintain(Path(name), keep_days=AGES, forget=["x"])] == [0]
    assert read(Path(name), "quality")["device"].to_pylist() == ["d"]
    assert migrate(Path(name)) == {"quality": []}


def column(out: Path, table: str, name: str) -> list[Any]:
    return sorted(opened(out, table).read()[name].to_pylist())


def test_many_files_become_few_and_old_days_and_devices_go(tmp_path: Path) -> None:
    for days, device in ((0, "a"), (1, "a'"), (2, "b"), (3, "b")):
        at = NOW - timedelta(days=days)
        add(tmp_path, "readings", device=device, ingress_at=at, day=f"{at:%Y-%m-%d}")
        add(tmp_path, "quality", device=device, minute=at)
        add(tmp_path, "coverage", window_start=at, tile=str(days))
        add(tmp_path, "seen", device=device, block=days, mask=1)
    found = {each.table: each for each in maintain(tmp_path, keep_days=2, now=NOW)}
    assert (found["readings"].rows_deleted, found["readings"].files_before, found["readings"].files_after) == (1, 4, 3)
    assert column(tmp_path, "readings", "device") == ["a", "a'", "b"]
    assert column(tmp_path, "coverage", "tile") == ["0", "1", "2"]
    assert found["seen"].files_after == 1
    assert maintain(tmp_path, forget=["a'", "none"], now=NOW)[0].table
    for table in ("readings", "quality"):
        assert column(tmp_path, table, "device") == ["a", "b"]
    assert column(tmp_path, "seen", "device") == ["a", "b", "b"]
    assert opened(tmp_path, "readings").positions("s", [0]) == {0: 1}


def test_in_the_quarantine_a_device_is_forgotten_by_what_its_payloads_say_too(tmp_path: Path) -> None:
    """A gateway brought them, or another client used its serials; escapes are JSON's, and a quote is no SQL."""
    name = "ü'1"
    gone = [json.dumps({"device": name}).encode(), f'{{"device": "{name}", "boot": "x"}} trailing'.encode()]
    kept = [b'{"device": "other"}', f'{{"device": "{name}"'.encode(), b"\xff", f'{{"d": "{name}"}}'.encode(), b"[]"]
    for payload in (*gone, *kept):
        add(tmp_path, "quarantine", client_id="gateway", payload=payload, day="2026-03-10", ingress_at=NOW)
    add(tmp_path, "quarantine", client_id=name, payload=b"", day="2026-03-10", ingress_at=NOW)
    (found,) = maintain(tmp_path, forget=[name], now=NOW)
    assert found.rows_deleted == 3
    assert column(tmp_path, "quarantine", "payload") == sorted(kept)


def test_beside_a_job_its_memory_is_left_alone(tmp_path: Path) -> None:
    add(tmp_path, "readings", device="a")
    add(tmp_path, "seen", device="a")
    job = JobFolder.held(tmp_path, tmp_path / "checkpoint")
    found = {each.table: each for each in maintain(tmp_path, forget=["a"], now=NOW)}
    assert (found["readings"].rows_deleted, found["seen"].rows_deleted) == (1, 0)
    assert "a job runs" in found["seen"].left_out
    with pytest.raises(TableError, match="a job writes here"):
        migrate(tmp_path)
    job.release()
    assert maintain(tmp_path, forget=["a"], now=NOW)[-1].table
    assert column(tmp_path, "seen", "device") == []


def test_no_table_keeps_a_device_that_is_forgotten(tmp_path: Path) -> None:
    """Whatever column names one: a table that is new and has such a column has to be thought of."""
    names = {"device", "client_id", "member"}
    named = {name: names & {field.name for field in record} for name, record in RECORDS.items()}
    assert {name for name, found in named.items() if found} == set(OF_DEVICES)
    for name, column_of in OF_DEVICES.items():
        assert column_of in named[name]
        for device in ("a", "b"):
            add(tmp_path, name, **{column_of: device})
    done = {each.table: (each.rows_deleted, each.left_out) for each in maintain(tmp_path, forget=["a"], now=NOW)}
    assert done == dict.fromkeys(OF_DEVICES, (1, ""))
    for name, column_of in OF_DEVICES.items():
        assert column(tmp_path, name, column_of) == ["b"]


def test_beside_a_job_nobody_is_forgotten_in_what_it_has_in_memory(tmp_path: Path) -> None:
    """It would write the place again, and what it has told; few files are made of many all the same."""
    held = ("whereabouts", "outbox", "commands")
    for name in held:
        for device in ("a", "b"):
            add(tmp_path, name, device=device)
    job = JobFolder.held(tmp_path, tmp_path / "checkpoint")
    found = {each.table: each for each in maintain(tmp_path, forget=["a"], now=NOW)}
    assert not any(each.left_out for each in maintain(tmp_path, now=NOW))
    job.release()
    for name in held:
        assert (found[name].rows_deleted, found[name].files_after) == (0, 1)
        assert "a job runs" in found[name].left_out
        assert column(tmp_path, name, "device") == ["a", "b"]


def test_commands_keep_a_device_that_the_outbox_keeps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is stored and has no state would be published by the next run."""
    for name in ("outbox", "commands"):
        add(tmp_path, name, device="a")
    original = module._deleted

    def full(folder: Path, predicate: str) -> int:
        if folder.name == "outbox":
            raise OSError(28, "No space left on device")
        return original(folder, predicate)

    monkeypatch.setattr(module, "_deleted", full)
    wrong: list[TableError] = []
    (commands,) = maintain(tmp_path, forget=["a"], now=NOW, told=wrong.append)
    assert "No space left on device" in str(*wrong)
    assert (commands.table, commands.rows_deleted) == ("commands", 0)
    assert "outbox comes first" in commands.left_out
    assert column(tmp_path, "commands", "device") == ["a"]


def test_a_job_may_begin_while_other_tables_than_its_memory_are_at_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Large tables take long, and a job that is to begin meanwhile is not kept waiting."""
    for name in ("readings", "seen"):
        add(tmp_path, name, device="a")
    may_begin: dict[str, bool] = {}

    original = module._maintained

    def watched(folder: Path, *arguments: Any, left: str) -> module.Maintained:
        job = JobFolder.tried(tmp_path, "a job")
        may_begin[folder.name] = job is not None
        if job:
            job.release()
        return original(folder, *arguments, left=left)

    monkeypatch.setattr(module, "_maintained", watched)
    found = maintain(tmp_path, now=NOW)
    assert may_begin == {"readings": True, "seen": False}
    assert not any(each.left_out for each in found)


@pytest.mark.parametrize("damage", ["its file .* is gone", "file size is 0", "Permission denied"])
def test_a_table_whose_files_cannot_be_used_keeps_no_other_from_its_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    """The job's memory is read by Arrow, and not by Delta: with an error of another kind."""
    for number in range(2):
        add(tmp_path, "seen", device="a", block=number)
        add(tmp_path, "quality", device=f"d{number}", minute=NOW)
    broken = Path(opened(tmp_path, "seen").files()[0])
    if "gone" in damage:
        broken.unlink()
    elif "size" in damage:
        broken.write_bytes(b"")
    else:
        monkeypatch.setattr("lapwing.pipeline.jobs.seen.joined_marks", Mock(side_effect=PermissionError(13, damage)))
    wrong: list[TableError] = []
    found = maintain(tmp_path, now=NOW, told=wrong.append)
    assert [(each.table, each.files_after) for each in found] == [("quality", 1)]
    (error,) = wrong
    assert re.search(f"table seen cannot be used: .*{damage}", str(error))
    with pytest.raises(TableError, match="table seen cannot be used"):
        maintain(tmp_path, now=NOW)


def test_the_memory_of_a_job_is_joined_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However large it is, no more of it is held at once; and it is one commit."""
    monkeypatch.setattr("lapwing.pipeline.sinks.parts.PART_ROWS", 300)
    held: list[tuple[int, int]] = []

    def watched(rows: pa.Table) -> pa.Table:
        held.append((rows.num_rows, pa.total_allocated_bytes()))
        return joined_marks(rows)

    monkeypatch.setattr("lapwing.pipeline.jobs.seen.joined_marks", watched)
    most = []
    for number, files in enumerate((5, 40)):
        out = tmp_path / str(number)
        sink = opened(out, "seen")
        for file in range(files):
            serial = pa.array(range(64 * file, 64 * (file + 2), 3))  # each block comes in two files, of 20 devices
            each = {"serial": serial, "boot": pa.nulls(len(serial), pa.int64()).fill_null(0)}
            said = pa.array([file % 2 + 1] * len(serial), pa.uint16())
            parts = [
                reading_marks(pa.table({"device": pa.array([f"d{device}"] * len(serial)), **each, "print": said}))
                for device in range(20)
            ]
            sink.append([write_file(pa.concat_tables(parts), sink.folder)], "s", {0: file + 1})
        expected = joined_marks(sink.read())
        gc.collect()  # what tests before have left may go meanwhile, and would count as less
        before = pa.total_allocated_bytes()
        held.clear()
        (found,) = maintain(out, now=NOW)
        assert (found.files_before, found.files_after) == (files, 1)
        done = opened(out, "seen")
        assert done.read().sort_by(BLOCKS).equals(expected.sort_by(BLOCKS))
        assert done.positions("s", [0]) == {0: files}
        commits = [each["operation"] for each in DeltaTable(done.folder).history() if each["operation"] == "WRITE"]
        assert len(commits) == files + 1
        assert [path.name for path in done.folder.iterdir() if path.name.startswith("_")] == ["_delta_log"]
        assert max(rows for rows, _ in held) <= 300 + 40
        most.append(max(size for _, size in held) - before)
    assert len(held) > 2
    assert most[1] < 2 * most[0]


def test_a_memory_that_cannot_be_joined_stays_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what was written of it goes: VACUUM would not know it."""
    for number in range(9):
        add(tmp_path, "seen", device=f"d{number}", block=number)
    monkeypatch.setattr("lapwing.pipeline.sinks.parts.PART_ROWS", 2)
    full = Mock(side_effect=[joined_marks(SEEN_SCHEMA.empty_table()), OSError(28, "No space left on device")])
    monkeypatch.setattr("lapwing.pipeline.jobs.seen.joined_marks", full)
    before = opened(tmp_path, "seen")
    with pytest.raises(TableError, match=r"table seen cannot be used: .*No space left on device"):
        maintain(tmp_path, now=NOW)
    assert full.call_count == 2
    after = opened(tmp_path, "seen")
    assert (after.files(), after.version) == (before.files(), before.version)
    there = {str(path) for path in after.folder.iterdir()}
    assert there == {*after.files(), str(after.folder / "_delta_log")}


def test_a_folder_without_tables_is_refused(tmp_path: Path) -> None:
    for act in (maintain, migrate):
        with pytest.raises(ConfigError, match="there are no tables"):
            act(tmp_path)
