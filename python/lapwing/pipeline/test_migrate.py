"""Are tables of an earlier release brought over whole, or not at all?"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from unittest.mock import Mock

import pyarrow as pa
import pytest
from deltalake import DeltaTable, Field
from deltalake.schema import PrimitiveType

from lapwing.contracts.tables import TABLES
from lapwing.pipeline import by_day
from lapwing.pipeline.errors import TableError
from lapwing.pipeline.maintain import maintain
from lapwing.pipeline.maintenance_lock import MAINTENANCE, MIGRATION, at_work
from lapwing.pipeline.migrate import BY_DAY, migrate
from lapwing.pipeline.sinks.columns import delta_schema
from lapwing.pipeline.test_maintain import NOW, add, column, opened


def test_a_table_with_deletion_vectors_is_not_brought_over(tmp_path: Path) -> None:
    """Written anew as its files are, it would have again what somebody has deleted."""
    DeltaTable.create(tmp_path / "tables" / "readings", delta_schema(TABLES["readings"]))
    DeltaTable(tmp_path / "tables" / "readings").alter.set_table_properties({"delta.enableDeletionVectors": "true"})
    with pytest.raises(TableError, match=r"readings cannot be brought over.*deletion vectors.*DROP FEATURE"):
        migrate(tmp_path)


def test_a_table_of_an_earlier_release_is_named_and_brought_over(tmp_path: Path) -> None:
    old = [field for field in TABLES["seen"].arrow_schema() if field.name != "prints"]
    DeltaTable.create(tmp_path / "tables" / "seen", pa.schema(old))
    with pytest.raises(TableError, match=r"no column prints.*run lapwing pipeline migrate"):
        opened(tmp_path, "seen")
    assert migrate(tmp_path) == {"seen": ["prints"]}
    assert migrate(tmp_path) == {"seen": []}
    add(tmp_path, "seen", device="a")
    assert column(tmp_path, "seen", "device") == ["a"]
    DeltaTable.create(tmp_path / "tables" / "quality", pa.schema([pa.field("device", pa.string())]))
    with pytest.raises(TableError, match=r"quality has no column minute.*give another --out"):
        migrate(tmp_path)


def test_what_lay_in_one_folder_gets_folders_by_day(tmp_path: Path) -> None:
    """With its positions, its settings, columns of others, and what columns mean."""
    record = TABLES["readings"]
    folder = tmp_path / "tables" / "readings"
    DeltaTable.create(folder, delta_schema(record), name="readings", configuration={"delta.checkpointInterval": "50"})
    for days, device in ((0, "a"), (3, "b"), (0, "c")):
        add(tmp_path, "readings", device=device, ingress_at=NOW - timedelta(days=days), observed_at=NOW)
    add(tmp_path, "readings", device="d", ingress_at=None, observed_at=NOW - timedelta(days=1))
    DeltaTable(folder).alter.add_columns([Field("note", PrimitiveType("string"), nullable=True)])
    assert not opened(tmp_path, "readings").is_by_day
    assert migrate(tmp_path) == {"readings": [BY_DAY]}
    assert migrate(tmp_path) == {"readings": []}
    sink = opened(tmp_path, "readings")
    assert sink.is_by_day
    days_of = sorted(Path(file).parent.name for file in sink.files())
    assert days_of == ["day=2026-03-07", "day=2026-03-09", "day=2026-03-10"]
    assert column(tmp_path, "readings", "device") == ["a", "b", "c", "d"]
    assert sink.positions("s", [0]) == {0: 1}
    table = DeltaTable(folder)
    assert table.metadata().configuration["delta.checkpointInterval"] == "50"
    assert [each.name for each in table.schema().fields] == [*record.names, "note"]
    assert [each.nullable for each in table.schema().fields] == [*(each.nullable for each in record), True]
    assert table.schema().fields[0].metadata["comment"] == record.fields[0].meaning
    add(tmp_path, "readings", device="e", ingress_at=NOW, day="2026-03-10")
    assert maintain(tmp_path, keep_days=1, now=NOW)[0].rows_deleted == 1
    assert column(tmp_path, "readings", "device") == ["a", "c", "d", "e"]


def test_a_migration_that_fails_has_changed_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    DeltaTable.create(tmp_path / "tables" / "readings", delta_schema(TABLES["readings"]))
    add(tmp_path, "readings", device="a", ingress_at=NOW, observed_at=NOW)
    monkeypatch.setattr(by_day, "days", Mock(side_effect=OSError("No space left on device")))
    with pytest.raises(TableError, match=r"No space left on device.*nothing has changed; is there room"):
        migrate(tmp_path)
    assert column(tmp_path, "readings", "device") == ["a"]
    assert not opened(tmp_path, "readings").is_by_day


def test_a_migration_is_beside_nobody(tmp_path: Path) -> None:
    """It writes tables anew that maintenance has at hand, which is beside other maintenance and is told so."""
    add(tmp_path, "quality", device="d", minute=NOW)
    with at_work(tmp_path, MAINTENANCE):
        maintain(tmp_path)
        with pytest.raises(TableError, match="maintain is at work here"):
            migrate(tmp_path)
    with at_work(tmp_path, MIGRATION), pytest.raises(TableError, match="migrate is at work here"):
        maintain(tmp_path)
    assert migrate(tmp_path) == {"quality": []}
