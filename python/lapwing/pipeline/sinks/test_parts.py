"""Does each row come in one part, with those that have its number, and is no more held than a part?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from lapwing.pipeline.sinks import parts
from lapwing.pipeline.sinks.parts import in_parts

SCHEMA = pa.schema([pa.field("name", pa.string()), pa.field("number", pa.int64())])
BATCH_ROWS, PART_ROWS = 20, 100


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "PART_ROWS", PART_ROWS)


def batches(rows: int, values: int) -> Iterator[pa.RecordBatch]:
    """Numbers that come again and again, of which half are in the lowest bits only."""
    for begin in range(0, rows, BATCH_ROWS):
        at = np.arange(begin, min(begin + BATCH_ROWS, rows)) % values
        yield pa.RecordBatch.from_arrays([pa.array([f"n{each}" for each in at]), pa.array(at)], schema=SCHEMA)


def number(rows: pa.Table) -> Any:
    return rows["number"].to_numpy().astype(np.uint64)


@pytest.mark.parametrize(
    ("rows", "values", "count"),
    [(0, 1, 1), (PART_ROWS, 7, 1), (1_000, 1_000, 32), (4_000, 400, 400)],
    ids=["none", "one", "cut", "cut twice"],
)
def test_each_row_is_in_one_part_with_its_like(tmp_path: Path, rows: int, values: int, count: int) -> None:
    found = [part["name"].to_pylist() for part in in_parts(batches(rows, values), number, SCHEMA, tmp_path)]
    assert len(found) <= count
    assert all(len(part) <= PART_ROWS + BATCH_ROWS for part in found)
    expected = Counter(f"n{each % values}" for each in range(rows))
    assert Counter(name for part in found for name in part) == expected
    assert Counter(name for part in found for name in set(part)) == Counter(set(expected))
    assert list(tmp_path.iterdir()) == []


def test_rows_that_are_all_alike_are_one_part(tmp_path: Path) -> None:
    """However many they are: no bit tells them apart."""
    (found,) = in_parts(batches(1_000, 1), number, SCHEMA, tmp_path)
    assert found.num_rows == 1_000


def test_who_was_killed_or_stops_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "_parts" / "3").mkdir(parents=True)
    (tmp_path / "_parts" / "3.arrow").write_bytes(b"torn")
    begun = in_parts(batches(1_000, 1_000), number, SCHEMA, tmp_path)
    assert next(begun).num_rows
    assert (tmp_path / "_parts").is_dir()
    begun.close()
    assert list(tmp_path.iterdir()) == []
