"""Does a change of a row leave alone what has nothing to do with it, and is every row there afterwards, once?"""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pytest
from deltalake import DeltaTable, Field
from deltalake.schema import PrimitiveType

from lapwing.contracts import fields
from lapwing.pipeline.sinks.delta import DeltaSink
from lapwing.pipeline.sinks.layout import (
    FILE_BYTES_MAX,
    FILE_BYTES_MIN,
    HeldFile,
    cut,
    file_bytes,
    may_hold,
    row_bytes,
    to_join,
)

RECORD = fields.Record(
    "windows",
    1,
    (
        fields.Field("name", "string", "whose; null is a key like any other", nullable=True),
        fields.Field("start", "time", "when"),
        fields.Field("noise", "binary", "what takes room"),
        fields.Field("count", "int64", "how many"),
    ),
)
SCHEMA = pa.schema(list(RECORD.arrow_schema()))
START = datetime(2026, 3, 1, tzinfo=UTC)
WINDOWS, NAMES = 400, 8
NOISE_BYTES = 200


def row(window: int, name: str | None, count: int = 1) -> dict[str, Any]:
    noise = random.Random(f"{window} {name}").randbytes(NOISE_BYTES)
    return {"name": name, "start": START + timedelta(minutes=window), "noise": noise, "count": count}


def rows(*each: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(list(each), SCHEMA)


@pytest.fixture
def sink(tmp_path: Path) -> DeltaSink:
    """Some 640 kB, which nothing can pack."""
    made = DeltaSink(tmp_path / "windows", RECORD, ("name", "start"))
    every = [row(window, f"n{name}" if name else None) for window in range(WINDOWS) for name in range(NAMES)]
    made.merge(rows(*every), "s", {0: 1})
    return made


def sizes(sink: DeltaSink) -> dict[str, int]:
    return {file: Path(file).stat().st_size for file in sink.files()}


def counts(sink: DeltaSink) -> dict[tuple[str | None, int], int]:
    found = sink.read().to_pylist()
    told = {(each["name"], round((each["start"] - START).total_seconds() / 60)): each["count"] for each in found}
    assert len(told) == len(found)
    return told


def test_a_late_reading_rewrites_the_file_of_its_window_and_no_other(sink: DeltaSink) -> None:
    """Also after many files were made few."""
    for late in (3, 7):
        before, said = sizes(sink), counts(sink)
        assert max(before.values()) < 2 * FILE_BYTES_MIN
        assert len(before) > 4
        sink.merge(rows(row(late, "n1", 5), row(late, None, 6), row(late, "new", 7)), "s", {0: 2})
        after = sizes(sink)
        assert len(before.keys() - after.keys()) == 1
        assert sum(size for file, size in after.items() if file not in before) < 2 * FILE_BYTES_MIN
        assert counts(sink) == {**said, ("n1", late): 5, (None, late): 6, ("new", late): 7}
        sink.compact()
    assert DeltaSink(sink.folder, RECORD, ("name", "start")).positions("s", [0]) == {0: 2}


def test_what_is_new_rewrites_nothing(sink: DeltaSink) -> None:
    before = sizes(sink)
    sink.merge(rows(row(WINDOWS, "a"), row(3, "b")), "s", {0: 2})
    assert before.keys() < sizes(sink).keys()
    assert len(counts(sink)) == WINDOWS * NAMES + 2


def test_who_is_killed_before_the_commit_has_changed_nothing(sink: DeltaSink, monkeypatch: pytest.MonkeyPatch) -> None:
    said = counts(sink)
    with monkeypatch.context() as patched:
        patched.setattr(DeltaSink, "_commit", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            sink.merge(rows(row(3, "n1", 5)), "s", {0: 2})
    again = DeltaSink(sink.folder, RECORD, ("name", "start"))
    assert (counts(again), again.positions("s", [0])) == (said, {0: 1})
    again.merge(rows(row(3, "n1", 5)), "s", {0: 2})
    assert counts(again) == {**said, ("n1", 3): 5}


def test_a_large_file_of_others_is_taken_apart_where_something_comes_late(sink: DeltaSink) -> None:
    DeltaTable(sink.folder).optimize.compact()
    sink.refresh()
    said = counts(sink)
    assert len(sink.files()) == 1
    sink.merge(rows(row(3, "n1", 5)), "s", {0: 2})
    assert len(sink.files()) > 4
    assert counts(sink) == {**said, ("n1", 3): 5}


def test_few_files_are_read_for_few_windows(sink: DeltaSink) -> None:
    for file in sink.files()[1:]:
        Path(file).rename(f"{file}.away")
    whole = {each for each in range(WINDOWS) if not _fails(sink, each)}
    assert whole
    assert len(whole) < WINDOWS / 2


def _fails(sink: DeltaSink, window: int) -> bool:
    try:
        found = sink.read("start", pa.array([START + timedelta(minutes=window)], pa.timestamp("us", "UTC")))
    except FileNotFoundError:
        return True
    assert found.num_rows == NAMES
    return False


def test_columns_of_others_stay(sink: DeltaSink) -> None:
    """Their values, too: Delta's own MERGE does it then."""
    table = DeltaTable(sink.folder)
    table.alter.add_columns([Field("note", PrimitiveType("string"), nullable=True)])
    table.update({"note": "'mine'"}, predicate="name = 'n1'")
    sink.refresh()
    sink.merge(rows(row(3, "n1", 5)), "s", {0: 2})
    assert counts(sink)["n1", 3] == 5
    noted = DeltaTable(sink.folder).to_pyarrow_table(columns=["note"])["note"].to_pylist()
    assert noted.count("mine") == WINDOWS


def test_files_of_a_large_table_are_larger() -> None:
    assert file_bytes(0) == file_bytes(10_000_000) == FILE_BYTES_MIN
    assert file_bytes(256 * 1_000_000) == 1_000_000
    assert file_bytes(10**12) == FILE_BYTES_MAX


def test_a_file_may_hold_what_lies_within_its_bounds() -> None:
    """Bounds of times may have been cut down to milliseconds; who says nothing may hold anything."""
    files = [HeldFile("a", 1, 1_000, 3_000), HeldFile("b", 1, 5_000, 5_000), HeldFile("c", 1, None, None)]
    for at, held in {999: "c", 1_000: "ac", 3_999: "ac", 4_000: "c", 5_500: "bc", 9_000: "c"}.items():
        assert "".join(file.path for file in may_hold(files, np.array([at]))) == held
    assert [file.path for file in may_hold(files, np.array([9_000, 0, 2_000]))] == ["a", "c"]


def test_files_are_joined_when_it_doubles_them() -> None:
    def joined(*sizes: int) -> list[int]:
        return [file.size_bytes for file in to_join([HeldFile("a", size, None, None) for size in sizes])]

    assert joined(5, 5, 5) == [5, 5, 5]
    assert joined(100, 1, 2, 3, 6) == [1, 2, 3, 6]
    assert joined(100, 1, 9) == [1, 9]
    assert joined(12, 1, 2, 3, 6) == [1, 2, 3, 6, 12]


def test_rows_are_cut_by_time_into_parts_of_a_size() -> None:
    whole = rows(*(row(window, "a") for window in (3, 1, 2, 0)))
    parts = cut(whole, ["start"], round(row_bytes(whole) * 2))
    assert [[each["start"].minute for each in part.to_pylist()] for part in parts] == [[0, 1], [2, 3]]
    assert [part.num_rows for part in cut(whole, ["start"], FILE_BYTES_MIN)] == [4]
    assert cut(whole.slice(0, 0), ["start"], 1) == []
