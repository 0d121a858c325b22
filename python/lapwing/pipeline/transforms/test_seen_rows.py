"""Are the rows of ``SEEN`` right however many they are: is nothing counted in too few bits, or laid out unevenly?"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from lapwing.pipeline.transforms import seen_rows
from lapwing.pipeline.transforms.seen_rows import SEEN_SCHEMA, joined_marks, packed, reading_marks, spread

ARROWS_BINARY_MAX = 2**31 - 1


def readings(*serials: int) -> pa.Table:
    count = len(serials)
    said = [1 + serial % 1000 for serial in serials]
    return pa.table(
        {
            "device": pa.array(["d"] * count),
            "boot": pa.array([0] * count, pa.int64()),
            "serial": pa.array(serials, pa.int64()),
            "print": pa.array(said, pa.uint16()),
        }
    )


def test_no_array_has_more_bytes_than_arrow_can_count() -> None:
    chunk_bytes = seen_rows._CHUNK_BLOCKS * 2 * 64
    assert chunk_bytes <= ARROWS_BINARY_MAX < chunk_bytes + 2 * 64


def test_what_is_more_than_one_array_says_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when rows of it are joined again, and where nobody knows what some readings said."""
    blocks = reading_marks(readings(*range(64 * 7)))
    unknown = blocks.set_column(4, "prints", pa.nulls(len(blocks), pa.binary())).slice(2, 3)
    others = reading_marks(readings(64 * 9, 64 * 2 + 1, 5))
    whole = joined_marks(pa.concat_tables([blocks, unknown, others]))
    monkeypatch.setattr(seen_rows, "_CHUNK_BLOCKS", 3)
    cut = joined_marks(pa.concat_tables([unknown, others, blocks]))
    assert [len(chunk) for chunk in cut["prints"].chunks] == [3, 3, 2]
    again = joined_marks(pa.concat_tables([cut, cut.slice(1, 4), unknown]))
    assert whole.to_pylist() == cut.to_pylist() == again.to_pylist()
    assert np.frombuffer(whole["prints"][1].as_py(), "<u2").tolist() == [1 + serial for serial in range(64, 128)]


def test_nulls_are_packed_where_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seen_rows, "_CHUNK_BLOCKS", 2)
    there = np.array([False, True, True, False, True])
    made = packed(np.arange(3 * 64, dtype=np.uint16).reshape(3, 64), there)
    assert [len(chunk) for chunk in made.chunks] == [2, 2, 1]
    first = [None if said is None else np.frombuffer(said, "<u2")[0] for said in made.to_pylist()]
    assert first == [None, 0, 64, None, 128]
    assert packed(np.empty((0, 64), dtype=np.uint16), np.zeros(0, dtype=bool)).to_pylist() == []


def test_rows_of_a_block_have_one_number_and_others_are_spread_evenly() -> None:
    """Of one device with many blocks, of many devices with one, and of many boots."""
    one = np.zeros(65_536, dtype=np.int64)
    each = np.arange(len(one))
    fleets = {
        "blocks": (["d"] * len(one), one, each << 10),
        "boots": (["d"] * len(one), each, one),
        "devices": ([f"device {number}" for number in each], one, one),
    }
    for device, boot, block in fleets.values():
        columns = [pa.array(device), pa.array(boot), pa.array(block), pa.array(one)]
        rows = pa.table([*columns, pa.nulls(len(one), pa.binary())], schema=SEEN_SCHEMA)
        numbers = spread(rows)
        assert (spread(rows.take(pa.array(each[::-1])))[::-1] == numbers).all()
        for shift in (0, 5, 55):
            counts = np.bincount((numbers >> np.uint64(shift)).astype(np.int64) & 31, minlength=32)
            assert counts.max() < 1.2 * len(one) / 32
