"""Reading the tables as the contract types them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from lapwing.contracts.tables import TABLES
from lapwing.pipeline.report import tables
from lapwing.pipeline.report.conftest import MakeTables
from lapwing.pipeline.report.tables import ReportError, read, rows
from lapwing.pipeline.sinks.paths import partitions_by_file, table_files

READ = """
import pathlib, sys
from lapwing.pipeline.report.tables import read
read(pathlib.Path(sys.argv[1]), "readings")
"""


def test_every_table_is_read_whole_even_an_empty_one(make_tables: MakeTables) -> None:
    out = make_tables(readings=7)
    for name in ("readings", "coverage", "quality", "latency", "quarantine", "seen"):
        found = read(out, name)
        assert found.schema == TABLES[name].arrow_schema()
        assert found.num_rows == rows(out, name)
    assert read(out, "readings", ["serial", "device"]).column_names == ["serial", "device"]


def test_days_are_read_that_stand_in_the_log_only(make_tables: MakeTables, tmp_path: Path) -> None:
    """Files of a table by day do not repeat it, as this package writes them: every day was null."""
    rows_of = read(make_tables(readings=3), "readings")
    days = ["2026-03-01", "x y%20/z=ü", None]
    place = rows_of.column_names.index("day")
    dated = rows_of.slice(0, 3).set_column(place, rows_of.schema.field(place), pa.array(days, pa.string()))
    folder = tmp_path / "a b%ü" / "tables" / "readings"
    write_deltalake(folder, dated, partition_by=["day"])
    found = read(tmp_path / "a b%ü", "readings")
    assert sorted(map(str, found["day"].to_pylist())) == sorted(map(str, days))
    assert sorted(found["serial"].to_pylist()) == sorted(dated["serial"].to_pylist())
    assert sorted(map(str, read(tmp_path / "a b%ü", "readings", ["day"])["day"].to_pylist())) == sorted(map(str, days))
    table = DeltaTable(folder)
    assert set(partitions_by_file(table, folder)) == set(table_files(table, folder))


def test_a_process_that_read_a_table_ends_well(make_tables: MakeTables) -> None:
    done = subprocess.run([sys.executable, "-c", READ, make_tables()], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_table_that_is_not_there_is_named(make_tables: MakeTables) -> None:
    out = make_tables()
    (out / "tables" / "seen").rename(out / "gone")
    with pytest.raises(ReportError, match="seen"):
        read(out, "seen")


def test_files_that_others_delete_meanwhile_are_looked_up_again(
    make_tables: MakeTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job whose pictures were drawn while somebody made its files few ended with an error, though all was done."""
    out = make_tables(readings=7)
    folder = out / "tables" / "readings"
    gone = {out / "gone": {"day": "2026-03-01"}}
    opened = Mock(side_effect=[gone, partitions_by_file(DeltaTable(folder), folder)])
    monkeypatch.setattr(tables, "partitions_by_file", opened)
    assert read(out, "readings").num_rows == 7
    assert opened.call_count == 2
    opened.side_effect = [gone] * 9
    with pytest.raises(ReportError, match="table readings cannot be read: its file gone is gone"):
        read(out, "readings")


def test_deletion_vectors_are_refused(make_tables: MakeTables) -> None:
    """Rows that were deleted would be drawn."""
    out = make_tables()
    DeltaTable(out / "tables" / "seen").alter.set_table_properties({"delta.enableDeletionVectors": "true"})
    with pytest.raises(ReportError, match=r"table seen has deletion vectors.*DROP FEATURE"):
        read(out, "seen")
