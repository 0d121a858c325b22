"""A path is a path: what delta-rs cannot spell it gets through a door, and the table lies where it was wanted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from deltalake.exceptions import DeltaError, TableNotFoundError

from lapwing.contracts.fields import Field, Record
from lapwing.pipeline.errors import ConflictError, TableError
from lapwing.pipeline.sinks.delta import DeltaSink
from lapwing.pipeline.sinks.doors import for_data, is_odd, link_to, made, opened
from lapwing.pipeline.sinks.files import write_file
from lapwing.pipeline.sinks.paths import check_folder, table_files

ODD = ["a\nb", "a\tb\r", "\x1b[31m", "\x7f", "a\\b", "[x]", "a|b", "a^b", "a%20b", "50%25", "\n%5C[ü]|^\\#?"]
RECORD = Record("things", 1, (Field("name", "string", "whose"), Field("count", "int64", "how many")))
SCHEMA = pa.schema(list(RECORD.arrow_schema()))


def things(*rows: tuple[str, int]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, row, strict=True)) for row in rows], SCHEMA)


def appended(sink: DeltaSink, offset: int, *rows: tuple[str, int]) -> None:
    sink.append([write_file(things(*rows), sink.folder)], "stream", {0: offset})


@pytest.mark.parametrize("name", ODD)
def test_a_table_lies_at_an_odd_path_and_does_all_that_others_do(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name / "things"
    check_folder("--out", folder)
    sink = DeltaSink(folder, RECORD)
    appended(sink, 1, ("a", 1))
    appended(sink, 2, ("b", 2))
    opened(folder).create_checkpoint()
    DeltaSink(folder, RECORD).compact()
    with for_data(opened(folder), folder) as (table, hooks):
        table.delete("name = 'a'", post_commithook_properties=hooks)
        write_deltalake(table, things(("c", 3)), mode="append", post_commithook_properties=hooks)
    found = DeltaSink(folder, RECORD)
    assert sorted(row["name"] for row in found.read().to_pylist()) == ["b", "c"]
    assert found.positions("stream", [0]) == {0: 2}
    assert all(file.parent == folder for file in table_files(opened(folder), folder))
    assert list((folder / "_delta_log").glob("*.checkpoint.parquet"))


def test_delta_rs_cannot_open_such_a_path_itself(tmp_path: Path) -> None:
    """Once it can, the doors may go."""
    with pytest.raises(DeltaError, match="illegal character"):
        write_deltalake(tmp_path / "a\nb", things(("a", 1)))


def test_commits_of_the_table_write_its_checkpoints(tmp_path: Path) -> None:
    """delta-rs resolves links for them, and fails after the commit where it then cannot spell the path."""
    folder = tmp_path / "a%20b\n"
    table = made(folder, SCHEMA, configuration={"delta.checkpointInterval": "2"})
    sink = DeltaSink(folder, RECORD)
    for offset in range(1, 4):
        appended(sink, offset, ("a", offset))
    assert len(list((folder / "_delta_log").glob("*.checkpoint.parquet"))) == 2
    table.update_incremental()
    assert table.count() == 3


def test_what_was_committed_meanwhile_is_a_conflict_there_too(tmp_path: Path) -> None:
    folder = tmp_path / "a\nb"
    made(folder, pa.schema([*SCHEMA, pa.field("note", pa.string())]))
    sink, other = DeltaSink(folder, RECORD, ("name",)), DeltaSink(folder, RECORD, ("name",))
    sink.merge(things(("a", 1)), "stream", {0: 1})
    other.refresh()
    sink.merge(things(("a", 2)), "stream", {0: 2})
    with pytest.raises(ConflictError, match="somebody else has changed table things"):
        other.merge(things(("a", 3)), "stream", {0: 3})


def test_a_table_that_is_gone_is_said_to_be_and_made_anew(tmp_path: Path) -> None:
    folder = tmp_path / "a\nb" / "things"
    with pytest.raises(TableNotFoundError):
        opened(folder)
    sink = DeltaSink(folder, RECORD)
    folder.rename(tmp_path / "away")
    with pytest.raises(TableError, match="it was taken away"):
        sink.refresh()
    with pytest.raises(TableNotFoundError):
        opened(folder)
    assert DeltaSink(folder, RECORD).untouched()


def test_a_link_is_harmless_and_the_same_each_time(tmp_path: Path) -> None:
    odd = tmp_path / "a\nb"
    link = link_to(odd)
    assert (link, link_to(tmp_path)) == (link_to(odd), tmp_path)
    assert not is_odd(link)
    odd.mkdir()
    assert link.resolve() == odd


def test_nothing_is_left_of_the_doors_and_an_odd_tmpdir_makes_none(tmp_path: Path) -> None:
    (tmp_path / "a\nb").mkdir()
    told = (
        "import sys; from pathlib import Path; from lapwing.pipeline.sinks.doors import link_to;"
        "print(link_to(Path(sys.argv[1])))"
    )
    done = subprocess.run(
        [sys.executable, "-c", told, str(tmp_path / "a\nb")],
        env={"TMPDIR": str(tmp_path / "a\nb"), "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.count("\n") == 1
    assert not Path(done.stdout.strip()).parent.exists()
    assert not list((tmp_path / "a\nb").iterdir())
