"""Others write to the tables, too: is that a commit tried again, and is what cannot be mended named?"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, Field, Schema, write_deltalake
from deltalake.schema import PrimitiveType

from lapwing.contracts import fields
from lapwing.pipeline.errors import ConflictError, TableError
from lapwing.pipeline.report.tables import read
from lapwing.pipeline.sinks import delta, housekeeping
from lapwing.pipeline.sinks.delta import DeltaSink
from lapwing.pipeline.sinks.doors import for_data
from lapwing.pipeline.sinks.files import write_parts
from lapwing.pipeline.sinks.test_delta import ONE, append, opened, sink, things, told
from lapwing.pipeline.sinks.versions import FILE, check_gone, check_older, write_versions

__all__ = ["sink"]


def delete(table: DeltaTable) -> None:
    table.delete("name = 'a'")


def compact(table: DeltaTable) -> None:
    table.optimize.compact()


def add_column(table: DeltaTable) -> None:
    table.alter.add_columns([Field("note", PrimitiveType("string"), nullable=True)])


@pytest.mark.parametrize("change", [delete, compact, add_column])
def test_an_append_goes_on(sink: DeltaSink, tmp_path: Path, change: Callable[[DeltaTable], None]) -> None:
    append(sink, {0: 1}, ("a", 1, 1))
    append(sink, {0: 2}, ("b", 1, 1))
    change(DeltaTable(sink.folder))
    append(sink, {0: 3}, ("c", 1, 1))
    names = [row[0] for row in told(opened(tmp_path))]
    assert names == (["b", "c"] if change is delete else ["a", "b", "c"])
    assert sink.positions(ONE, [0]) == {0: 3}


@pytest.mark.parametrize("change", [delete, compact, add_column])
def test_a_merge_is_made_again(sink: DeltaSink, change: Callable[[DeltaTable], None]) -> None:
    """It was made of what the table held."""
    append(sink, {0: 1}, ("a", 1, 1))
    append(sink, {0: 2}, ("b", 1, 1))
    change(DeltaTable(sink.folder))
    with pytest.raises(ConflictError, match="somebody else has changed table things meanwhile"):
        sink.merge(things(("b", 1, 5)), ONE, {0: 3})
    assert sink.positions(ONE, [0]) == {0: 2}
    sink.refresh()
    assert sink.merge(things(("b", 1, 5)), ONE, {0: 3}) == 1
    assert ("b", 1, 5) in told(sink)


def test_a_compaction_of_others_does_not_survive_a_replacement(sink: DeltaSink) -> None:
    append(sink, {0: 1}, ("a", 1, 1))
    append(sink, {0: 2}, ("b", 1, 1))
    compact(DeltaTable(sink.folder))
    sink.replace(things(("c", 1, 1)))
    assert told(sink) == [("c", 1, 1)]


def test_nor_does_one_that_comes_while_it_is_written(sink: DeltaSink, monkeypatch: pytest.MonkeyPatch) -> None:
    """delta-rs lets both commits be: what the compaction has made would stay beside what replaces it."""
    append(sink, {0: 1}, ("a", 1, 1))
    append(sink, {0: 2}, ("b", 1, 1))

    def meanwhile(*arguments: Any) -> Any:
        compact(DeltaTable(sink.folder))
        return write_parts(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(delta, "write_parts", meanwhile)
        with pytest.raises(ConflictError, match="somebody else has changed table things meanwhile"):
            sink.replace(things(("c", 1, 1)))
    sink.refresh()
    assert told(sink) == [("a", 1, 1), ("b", 1, 1)]
    sink.replace(things(("c", 1, 1)))
    assert told(sink) == [("c", 1, 1)]


def test_two_who_make_few_files_of_many_at_the_same_moment_leave_each_row_once(
    sink: DeltaSink, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job, and maintenance beside it: one begins while the other is at it, or behind it with a look from before."""
    for number, name in enumerate("abc"):
        append(sink, {0: number + 1}, (name, 1, 1))
    rows, other, before = told(sink), opened(tmp_path), DeltaTable(sink.folder)

    def meanwhile(*arguments: Any) -> Any:
        monkeypatch.setattr(housekeeping, "for_data", for_data)
        other.compact()
        return for_data(*arguments)

    monkeypatch.setattr(housekeeping, "for_data", meanwhile)
    sink.compact()
    housekeeping.compact(before, sink.folder, is_aggregate=True)
    for each in (sink, other):
        each.refresh()
        assert told(each) == rows
        assert len(each.files()) == 1


def optimize_and_keep_nothing(table: DeltaTable) -> None:
    table.optimize.compact()
    table.vacuum(0, dry_run=False, enforce_retention_duration=False)


def test_files_that_others_delete_meanwhile_are_made_few_another_time(
    sink: DeltaSink, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A job ended by that, though it had nothing to say to the table."""
    append(sink, {0: 1}, ("a", 1, 1))
    append(sink, {0: 2}, ("b", 1, 1))

    def behind_it(*arguments: Any) -> Any:
        optimize_and_keep_nothing(DeltaTable(sink.folder))
        return for_data(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(housekeeping, "for_data", behind_it)  # they came just behind the refresh
        sink.compact()
    assert "table things: files stay many for now: " in caplog.text
    sink.refresh()
    assert told(sink) == [("a", 1, 1), ("b", 1, 1)]


def test_old_files_that_cannot_be_deleted_stay(
    sink: DeltaSink, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    append(sink, {0: 1}, ("a", 1, 1))
    monkeypatch.setattr(delta, "vacuum", Mock(side_effect=OSError("Permission denied")))
    sink.clean()
    assert "table things: old files stay for now: Permission denied" in caplog.text


def test_a_merge_whose_files_others_delete_meanwhile_is_made_again(sink: DeltaSink) -> None:
    """By name, as where somebody has added a column. Files that are gone without a commit are no conflict."""
    append(sink, {0: 1}, ("a", 1, 1))
    append(sink, {0: 2}, ("b", 1, 1))
    add_column(DeltaTable(sink.folder))
    sink.refresh()
    optimize_and_keep_nothing(DeltaTable(sink.folder))
    with pytest.raises(ConflictError, match="somebody else has changed table things meanwhile"):
        sink.merge(things(("b", 1, 5)), ONE, {0: 3})
    sink.refresh()
    Path(sink.files()[0]).unlink()
    with pytest.raises(TableError, match=r"table things cannot be used: .*bring it back") as found:
        sink.merge(things(("b", 1, 5)), ONE, {0: 3})
    assert not isinstance(found.value, ConflictError)


def test_deletion_vectors_of_others_are_refused(sink: DeltaSink, tmp_path: Path) -> None:
    """Whoever reads the files as they are would see rows that were deleted, and a job would write them again."""
    append(sink, {0: 1}, ("a", 1, 1))
    DeltaTable(sink.folder).alter.set_table_properties({"delta.enableDeletionVectors": "true"})
    with pytest.raises(TableError, match=r"somebody has given it deletion vectors.*DROP FEATURE"):
        sink.refresh()
    with pytest.raises(TableError, match="deletion vectors"):
        opened(tmp_path)


def test_files_that_are_gone_before_their_commit_are_not_committed(sink: DeltaSink) -> None:
    from lapwing.pipeline.sinks.files import write_file

    written = write_file(things(("a", 1, 1)), sink.folder)
    (sink.folder / written.path).unlink()
    with pytest.raises(ConflictError, match="does a VACUUM keep nothing"):
        sink.append([written], ONE, {0: 1})
    assert sink.untouched()


def test_a_lost_column_is_named(sink: DeltaSink) -> None:
    other = fields.Record("things", 1, (*sink.record.fields, fields.Field("more", "int64", "needed")))
    with pytest.raises(TableError, match="it has the columns name, channel, count"):
        DeltaSink(sink.folder, other)


def test_a_changed_type_is_named(sink: DeltaSink) -> None:
    """Our files would not fit what the table says of them any more."""
    changed = [Field(each.name, PrimitiveType("double" if each.name == "count" else each.type.type)) for each in
               DeltaTable(sink.folder).schema().fields]  # fmt: skip
    write_deltalake(
        sink.folder, pa.schema(Schema(changed).to_arrow()).empty_table(), mode="overwrite", schema_mode="overwrite"
    )
    with pytest.raises(TableError, match=r"changed the type of count from .* to double"):
        sink.refresh()


@pytest.mark.parametrize("commits", [0, 1, 9])
def test_a_table_that_others_take_away_or_replace_is_named(sink: DeltaSink, commits: int) -> None:
    """Also where the other one has as many commits, or more: of those delta-rs would take up the last ones."""
    append(sink, {0: 1}, ("a", 1, 1))
    sink.compact()
    sink.refresh()
    shutil.rmtree(sink.folder)
    with pytest.raises(TableError, match="it was taken away"):
        sink.refresh()
    with pytest.raises(TableError, match="table things cannot be used"):
        sink.append([], ONE, {0: 2})
    other = DeltaSink(sink.folder, sink.record)
    for number in range(commits):
        append(other, {0: number + 1}, ("b", 1, number))
    with pytest.raises(TableError, match=r"it was taken away|another one has taken its place"):
        sink.refresh()


def go_on_for_hours(folder: Path) -> None:
    """Others commit, and the log is cleaned as it is when commits are older than they are kept."""
    DeltaTable(folder).alter.set_table_properties({"delta.checkpointInterval": "50"})
    for file in (folder / "_delta_log").iterdir():
        os.utime(file, (0, 0))
    DeltaTable(folder).create_checkpoint()
    DeltaTable(folder).cleanup_metadata()


def test_who_rests_for_longer_than_commits_are_kept_goes_on(sink: DeltaSink, tmp_path: Path) -> None:
    append(sink, {0: 1}, ("a", 1, 1))
    known = sink.folder / "_delta_log" / f"{sink.version:020}.json"
    append(opened(tmp_path), {1: 1}, ("b", 1, 1))
    go_on_for_hours(sink.folder)
    assert not known.exists()
    sink.refresh()
    assert told(sink) == [("a", 1, 1), ("b", 1, 1)]
    append(sink, {0: 2}, ("c", 1, 1))
    for each in (sink, opened(tmp_path)):
        assert each.positions(ONE, [0, 1]) == {0: 2, 1: 1}
        assert len(told(each)) == 3


def test_a_copy_that_is_put_back_is_not_taken_for_it(sink: DeltaSink, tmp_path: Path) -> None:
    """It has the same id, and not all commits."""
    shutil.copytree(sink.folder, tmp_path / "copy")
    append(sink, {0: 1}, ("a", 1, 1))
    shutil.rmtree(sink.folder)
    shutil.copytree(tmp_path / "copy", sink.folder)
    with pytest.raises(TableError, match="table things cannot be used: it has version 0, and had 1"):
        sink.refresh()


def test_a_table_that_is_gone_or_older_is_named(tmp_path: Path) -> None:
    check_gone(tmp_path)
    for name in ("readings", "seen"):
        (tmp_path / name / "_delta_log").mkdir(parents=True)
    write_versions(tmp_path, {"readings": 7, "seen": 9})
    check_gone(tmp_path)
    check_older(tmp_path, {"readings": 8, "seen": 9})
    with pytest.raises(TableError, match=r"table readings \(version 6, it was 7\) is older than the others"):
        check_older(tmp_path, {"readings": 6, "seen": 9})
    (tmp_path / "seen" / "_delta_log").rmdir()
    with pytest.raises(TableError, match="table seen is gone"):
        check_gone(tmp_path)
    (tmp_path / "readings" / "_delta_log").rmdir()
    check_gone(tmp_path)
    check_older(tmp_path, {"readings": 0, "seen": 0})
    for nonsense in ("", "[]", '{"seen": "x"}'):
        (tmp_path / FILE).write_text(nonsense)
        with pytest.raises(TableError, match="says nothing that can be read"):
            check_gone(tmp_path)


def test_times_are_microseconds_whoever_has_written_them(tmp_path: Path) -> None:
    """Spark's own sessions write INT96 unless told otherwise."""
    record = fields.Record("quality", 1, (fields.Field("minute", "time", "when"), fields.Field("n", "int64", "which")))
    table = DeltaSink(tmp_path / "tables" / "quality", record)
    at = datetime(2026, 3, 1, 12, 0, 0, 250, tzinfo=UTC)
    rows: Any = pa.table({"minute": pa.array([at], pa.timestamp("us", "UTC")), "n": [1]})
    pq.write_table(rows, table.folder / "theirs.parquet", use_deprecated_int96_timestamps=True)
    from lapwing.pipeline.sinks.files import WrittenFile

    table.append([WrittenFile("theirs.parquet", (table.folder / "theirs.parquet").stat().st_size, 1)], ONE, {0: 1})
    assert table.read()["minute"].to_pylist() == [at]
    assert table.read("minute", pa.array([at], pa.timestamp("us", "UTC")))["n"].to_pylist() == [1]
    assert read(tmp_path, "quality", ["minute"])["minute"].to_pylist() == [at]
