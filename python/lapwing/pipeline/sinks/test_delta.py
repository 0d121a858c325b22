"""Does a table say up to where it is done, with each commit and for good, and does it hold what it was given?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

from lapwing.contracts.fields import Field, Record
from lapwing.pipeline.errors import TableError
from lapwing.pipeline.sinks.delta import LOG_KEPT, DeltaSink
from lapwing.pipeline.sinks.delta_spark import SparkDeltaSink
from lapwing.pipeline.sinks.files import write_file
from lapwing.pipeline.sinks.positions import POSITIONS_KEY

RECORD = Record(
    "things",
    1,
    (
        Field("name", "string", "whose"),
        Field("channel", "int32", "which; null is a key like any other", nullable=True),
        Field("count", "int64", "how many"),
    ),
)
SCHEMA = pa.schema(list(RECORD.arrow_schema()))
ODD = "my tables, ü#100%?&='`{}*"
ONE, OTHER = "stream-1", "stream-2"


def opened(folder: Path) -> DeltaSink:
    """A path is a path: these characters mean something in the URIs that delta-rs makes of them."""
    return DeltaSink(folder / ODD / "things", RECORD, ("name", "channel"))


@pytest.fixture
def sink(tmp_path: Path) -> DeltaSink:
    return opened(tmp_path)


def things(*rows: tuple[str, int | None, int]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], SCHEMA)


def append(sink: DeltaSink, done: Mapping[int, int], *rows: tuple[str, int | None, int], uuid: str = ONE) -> int:
    files = [write_file(things(*rows), sink.folder)] if rows else []
    return sink.append(files, uuid, done)


def told(sink: DeltaSink) -> list[tuple[Any, ...]]:
    return sorted((tuple(row.values()) for row in sink.read().to_pylist()), key=str)


def test_a_new_table_has_no_position_and_no_row(sink: DeltaSink) -> None:
    assert sink.positions(ONE, [0, 1]) == {0: 0, 1: 0}
    assert sink.untouched()
    assert not sink.knows(ONE, [0, 1])
    assert (sink.rows(), told(sink), sink.files()) == (0, [], [])


def test_a_commit_says_its_rows_and_up_to_where_they_go(sink: DeltaSink, tmp_path: Path) -> None:
    assert append(sink, {0: 7, 1: 3}, ("a", 1, 1), ("b", None, 2)) == 2
    for each in (sink, opened(tmp_path)):
        assert each.positions(ONE, [0, 1, 2]) == {0: 7, 1: 3, 2: 0}
        assert (each.rows(), told(each)) == (2, [("a", 1, 1), ("b", None, 2)])
        assert not each.untouched()


def test_each_stream_has_its_own_positions(sink: DeltaSink) -> None:
    append(sink, {0: 7}, ("a", 1, 1))
    append(sink, {0: 2}, ("a", 1, 1), uuid=OTHER)
    assert (sink.positions(ONE, [0]), sink.positions(OTHER, [0])) == ({0: 7}, {0: 2})


def test_a_beginning_at_nothing_is_known(sink: DeltaSink, tmp_path: Path) -> None:
    """A start at ``latest`` of an empty stream is written down like any other."""
    append(sink, {0: 0})
    again = opened(tmp_path)
    assert again.knows(ONE, [0])
    assert not again.knows(OTHER, [0])
    assert not again.untouched()


@pytest.mark.parametrize("how", ["append", "merge"])
def test_a_table_never_goes_back(sink: DeltaSink, tmp_path: Path, how: str) -> None:
    """A batch that is cut anew may end before where the table stands, in one partition and not in another."""
    append(sink, {0: 9, 1: 4}, ("a", 1, 1))
    if how == "append":
        append(sink, {0: 6, 1: 5}, ("b", 1, 1))
    else:
        sink.merge(things(("b", 1, 1)), ONE, {0: 6, 1: 5})
    assert opened(tmp_path).positions(ONE, [0, 1]) == {0: 9, 1: 5}


def test_a_merge_replaces_rows_of_the_same_key(sink: DeltaSink, tmp_path: Path) -> None:
    """Complete rows; a null in a key is the same as another null."""
    assert sink.merge(things(("a", 1, 1), ("a", None, 2)), ONE, {0: 1}) == 2
    assert sink.merge(things(("a", None, 5), ("a", 2, 6), ("b", 1, 7)), ONE, {0: 2}) == 3
    again = opened(tmp_path)
    assert told(again) == [("a", 1, 1), ("a", 2, 6), ("a", None, 5), ("b", 1, 7)]
    assert again.positions(ONE, [0]) == {0: 2}


def test_a_merge_of_nothing_is_no_commit(sink: DeltaSink) -> None:
    assert sink.merge(SCHEMA.empty_table(), ONE, {0: 1}) == 0
    assert sink.untouched()


def test_what_replaces_everything_leaves_positions_alone(sink: DeltaSink, tmp_path: Path) -> None:
    append(sink, {0: 7}, ("a", 1, 1))
    append(sink, {1: 3}, ("b", 1, 2))
    sink.replace(things(("c", None, 3)))
    for each in (sink, opened(tmp_path)):
        assert told(each) == [("c", None, 3)]
        assert each.positions(ONE, [0, 1]) == {0: 7, 1: 3}
        assert len(each.files()) == 1


def test_many_files_become_few_and_say_the_same(sink: DeltaSink, tmp_path: Path) -> None:
    """Who has begun to read the many may finish."""
    for number in range(5):
        append(sink, {0: number + 1}, (f"d{number}", None, number))
    before, rows = sink.files(), told(sink)
    sink.compact()
    assert (len(before), len(sink.files())) == (5, 1)
    for each in (sink, opened(tmp_path)):
        assert told(each) == rows
        assert each.positions(ONE, [0]) == {0: 5}
    assert ds.dataset(before, schema=SCHEMA, format="parquet").count_rows() == 5
    append(sink, {0: 6}, ("d5", None, 5))
    assert (sink.rows(), sink.positions(ONE, [0])) == (6, {0: 6})


def test_a_commit_of_somebody_else_loses_nothing(sink: DeltaSink, tmp_path: Path) -> None:
    """Such as OPTIMIZE: it was made behind the back of a sink that has the table open."""
    append(sink, {0: 1}, ("a", 1, 1))
    append(sink, {0: 2}, ("b", 1, 2))
    DeltaTable(sink.folder).optimize.compact()
    write_deltalake(sink.folder, things(("theirs", None, 9)), mode="append")
    append(sink, {0: 3}, ("c", 1, 3))
    for each in (sink, opened(tmp_path)):
        assert told(each) == [("a", 1, 1), ("b", 1, 2), ("c", 1, 3), ("theirs", None, 9)]
        assert each.positions(ONE, [0]) == {0: 3}


def test_who_deletes_rows_meanwhile_need_not_begin_again(tmp_path: Path) -> None:
    """A table is appended to each second: he would never come through."""
    sink = DeltaSink(tmp_path / "things", RECORD)
    append(sink, {0: 1}, ("a", 1, 1), ("b", 1, 2))
    theirs = DeltaTable(sink.folder)
    sink.begin(OTHER, {0: 7}, {0: 7})
    append(sink, {0: 2}, ("a", 1, 3), ("c", 1, 4))
    assert theirs.delete("name = 'a'")["num_deleted_rows"] == 1
    append(sink, {0: 3}, ("d", 1, 5))
    assert sorted(name for name, *_ in told(sink)) == ["a", "b", "c", "d"]


def as_spark_says_it(folder: Path, positions: Mapping[int, int], uuid: str = ONE) -> None:
    """A commit of `SparkDeltaSink`: one number that Delta enforces, and the positions beside it."""
    said = json.dumps({POSITIONS_KEY: {uuid: {str(partition): offset for partition, offset in positions.items()}}})
    properties = CommitProperties(
        custom_metadata={"userMetadata": said}, app_transactions=[Transaction(uuid, sum(positions.values()))]
    )
    write_deltalake(folder, things(("spark", None, 0)), mode="append", commit_properties=properties)


def test_positions_that_spark_wrote_count_as_well(sink: DeltaSink, tmp_path: Path) -> None:
    """One job may go on with the other's tables: of both the higher one is true, per partition."""
    append(sink, {0: 5, 1: 5}, ("a", 1, 1))
    as_spark_says_it(sink.folder, {0: 9, 1: 3})
    as_spark_says_it(sink.folder, {0: 40}, uuid=OTHER)
    again = opened(tmp_path)
    assert again.positions(ONE, [0, 1]) == {0: 9, 1: 5}
    assert again.positions(OTHER, [0, 1]) == {0: 40, 1: 0}
    assert again.knows(OTHER, [])
    append(again, {0: 8, 1: 8}, ("b", 1, 1))
    assert opened(tmp_path).positions(ONE, [0, 1]) == {0: 9, 1: 8}


def test_positions_of_spark_that_no_commit_says_any_more_stop_the_job(sink: DeltaSink, tmp_path: Path) -> None:
    """A log that was shortened: to begin anew would write everything twice."""
    write_deltalake(
        sink.folder,
        things(("spark", None, 0)),
        mode="append",
        commit_properties=CommitProperties(app_transactions=[Transaction(ONE, 12)]),
    )
    with pytest.raises(TableError, match="no longer says where it stands"):
        opened(tmp_path).positions(ONE, [0])


def test_some_rows_and_some_columns_are_read(sink: DeltaSink) -> None:
    append(sink, {0: 1}, ("a", 1, 1), ("b", None, 2))
    append(sink, {0: 2}, ("c", 3, 3))
    found = sink.read("name", pa.array(["a", "c", "d"]), columns=["count"])
    assert (found.column_names, sorted(found["count"].to_pylist())) == (["count"], [1, 3])
    assert names(sink.read("channel", pa.array([3], pa.int32()))) == ["c"]
    assert names(sink.read(where=pc.field("count") > 1)) == ["b", "c"]
    assert names(sink.read("name", pa.array(["a", "c"]), where=pc.field("count") > 1)) == ["c"]


def names(rows: pa.Table) -> list[str]:
    return sorted(rows["name"].to_pylist())


def test_a_table_with_other_columns_is_refused(sink: DeltaSink) -> None:
    other = Record("things", 1, (Field("name", "string", "whose"),))
    with pytest.raises(TableError, match=r"it has the columns name, channel, count.*another --out"):
        DeltaSink(sink.folder, other)


def test_what_is_no_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / ODD).mkdir()
    (tmp_path / ODD / "things").touch()
    with pytest.raises(TableError, match="table things cannot be used"):
        opened(tmp_path)


def test_columns_say_what_they_mean_and_files_what_is_in_them(sink: DeltaSink) -> None:
    """A reader sees both: Spark's `DESCRIBE`, and whoever leaves a file alone by its statistics."""
    append(sink, {0: 1}, ("a", None, 7), ("b", 3, -5))
    table = DeltaTable(sink.folder)
    assert next(column.metadata["comment"] for column in table.schema().fields) == "whose"
    (told,) = pa.table(table.get_add_actions(flatten=True)).to_pylist()
    assert (told["min.count"], told["max.count"], told["null_count.channel"], told["num_records"]) == (-5, 7, 1, 2)


def test_statistics_of_times_hold_every_time(tmp_path: Path) -> None:
    at = pa.array([1_000_001, 2_000_999, None], pa.timestamp("us", "UTC"))
    written = write_file(pa.table({"at": at, "text": ["x", "y", "z"]}), tmp_path)
    assert written.lowest == {"at": "1970-01-01T00:00:01.000Z"}
    assert written.highest == {"at": "1970-01-01T00:00:02.001Z"}
    assert json.loads(written.stats())["nullCount"] == {"at": 1}


def test_times_that_no_calendar_has_are_written_without_bounds(tmp_path: Path) -> None:
    for far in (2**63 - 1, -(2**63)):
        at = pa.array([0, far], pa.timestamp("us", "UTC"))
        written = write_file(pa.table({"at": at, "n": [1, 2]}), tmp_path)
        assert (written.lowest, written.highest) == ({"n": 1}, {"n": 2})
        assert pq.read_table(tmp_path / written.path)["at"].cast(pa.int64()).to_pylist() == [0, far]


def test_the_log_keeps_what_a_job_needs_and_no_more(tmp_path: Path) -> None:
    """Positions that Spark's commits say stand in the log alone: there it is kept, whoever has made the table."""
    made = {kind: kind(tmp_path / kind.__name__, RECORD).folder for kind in (DeltaSink, SparkDeltaSink)}
    kept = {kind: DeltaTable(folder).metadata().configuration[LOG_KEPT] for kind, folder in made.items()}
    assert kept == {DeltaSink: "interval 2 hours", SparkDeltaSink: "interval 30 days"}
    again = SparkDeltaSink(made[DeltaSink], RECORD)
    assert DeltaTable(again.folder).metadata().configuration[LOG_KEPT] == "interval 30 days"
    assert SparkDeltaSink(made[DeltaSink], RECORD).version == again.version


def test_old_commits_go_and_positions_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DeltaSink, "log_kept", "interval 0 seconds")
    sink = opened(tmp_path)
    for number in range(120):
        append(sink, {0: number + 1}, *([("a", None, number)] if number % 40 == 0 else []))
    assert len(list((sink.folder / "_delta_log").glob("*.json"))) < 60
    for each in (sink, opened(tmp_path)):
        assert each.positions(ONE, [0]) == {0: 120}
        assert len(told(each)) == 3
