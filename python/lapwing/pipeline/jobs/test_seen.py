"""Does the memory of what has come stay small, and know everything that it was told?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from lapwing.contracts.tables import SEEN
from lapwing.pipeline.jobs import seen
from lapwing.pipeline.jobs.seen import mark, seen_of
from lapwing.pipeline.sinks.delta import DeltaSink
from lapwing.pipeline.transforms.seen_rows import rows_of

SCHEMA = pa.schema(list(SEEN.arrow_schema()))
STREAM = "stream"


def serial(device: str, number: int) -> pa.Table:
    """What a batch adds that has one reading."""
    block, bit = divmod(number, 64)
    row = {"device": device, "boot": 0, "block": block, "mask": 1 << bit}
    return pa.Table.from_pylist([row], SCHEMA)


def known(sink: DeltaSink, device: str) -> int:
    """Bits of the first block of a device, whatever the rows they stand in."""
    mask = 0
    for row in seen_of([pa.chunked_array([[device]])], sink.files()).to_pylist():
        assert (row["device"], row["block"]) == (device, 0)
        mask |= row["mask"]
    return mask


def test_many_batches_are_few_files_that_know_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seen, "_FILES_MAX", 4)
    sink = DeltaSink(tmp_path / "seen", SEEN)
    for number in range(14):
        assert mark(sink, [serial("a", number), serial("b", 2 * number)], STREAM, {0: number + 1}) == 2
        assert len(sink.files()) <= 4
    again = DeltaSink(tmp_path / "seen", SEEN)
    assert known(again, "a") == (1 << 14) - 1
    assert known(again, "b") == sum(1 << 2 * number for number in range(14))
    assert again.positions(STREAM, [0]) == {0: 14}
    assert again.rows() < 10


def test_what_is_large_already_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each batch would cost what all before it have brought."""
    monkeypatch.setattr(seen, "_FILES_MAX", 8)
    sink = DeltaSink(tmp_path / "seen", SEEN)
    names = pa.array([f"device {number}" for number in range(50_000)])
    mark(sink, [rows_of(names, *np.ones((3, len(names)), dtype=np.int64))], STREAM, {0: 1})
    (large,) = sink.files()
    for number in range(40):
        mark(sink, [serial("a", number)], STREAM, {0: number + 2})
        assert large in sink.files()
        assert len(sink.files()) <= 8
    assert known(sink, "a") == (1 << 40) - 1
    assert sink.positions(STREAM, [0]) == {0: 41}


def test_a_batch_that_adds_nothing_still_says_how_far_it_went(tmp_path: Path) -> None:
    sink = DeltaSink(tmp_path / "seen", SEEN)
    assert mark(sink, [], STREAM, {0: 5}) == 0
    assert (sink.files(), sink.positions(STREAM, [0])) == ([], {0: 5})
