"""Reading the tables as the contract types them."""

from __future__ import annotations

import subprocess
import sys
from unittest.mock import Mock

import pytest
from deltalake import DeltaTable

from lapwing.contracts.tables import TABLES
from lapwing.pipeline.report import tables
from lapwing.pipeline.report.conftest import MakeTables
from lapwing.pipeline.report.tables import ReportError, read, rows
from lapwing.pipeline.sinks.paths import table_files

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
    opened = Mock(side_effect=[[out / "gone"], table_files(DeltaTable(folder), folder)])
    monkeypatch.setattr(tables, "table_files", opened)
    assert read(out, "readings").num_rows == 7
    assert opened.call_count == 2
    opened.side_effect = [[out / "gone"]] * 9
    with pytest.raises(ReportError, match="table readings cannot be read: its file gone is gone"):
        read(out, "readings")


def test_deletion_vectors_are_refused(make_tables: MakeTables) -> None:
    """Rows that were deleted would be drawn."""
    out = make_tables()
    DeltaTable(out / "tables" / "seen").alter.set_table_properties({"delta.enableDeletionVectors": "true"})
    with pytest.raises(ReportError, match=r"table seen has deletion vectors.*DROP FEATURE"):
        read(out, "seen")
