"""Does `classify` say of every reading what it is, whatever the order, the repeats and the cut into batches?"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from lapwing.contracts.tables import SEEN
from lapwing.pipeline.transforms.repeats import classify, joined_marks, marks

NONE_SEEN = pa.schema(list(SEEN.arrow_schema())).empty_table()
Message = tuple[str, int, int]  # device, boot, serial


def table(messages: list[Message], first_offset: int = 0) -> pa.Table:
    devices, boots, serials = zip(*messages, strict=True) if messages else ((), (), ())
    return pa.table(
        {
            "device": pa.array(devices, pa.string()),
            "boot": pa.array(boots, pa.int64()),
            "serial": pa.array(serials, pa.int64()),
            "partition": pa.array([0] * len(messages), pa.int32()),
            "offset": pa.array(range(first_offset, first_offset + len(messages)), pa.int64()),
        }
    )


def said(messages: list[Message], seen: pa.Table = NONE_SEEN) -> list[tuple[bool, bool, int]]:
    """(first, late, gap) per message, in the order they came."""
    rows = sorted(classify(table(messages), seen).to_pylist(), key=lambda row: row["offset"])
    return [(row["first"], row["late"], row["gap"]) for row in rows]


NEW, LATE, REPEATED = (True, False, 0), (True, True, 0), (False, False, 0)


def one(*serials: int) -> list[Message]:
    return [("d", 0, serial) for serial in serials]


def test_serials_in_order_are_new() -> None:
    assert said(one(0, 1, 2)) == [NEW, NEW, NEW]


def test_a_gap_counts_where_it_is_revealed_and_before_the_first() -> None:
    assert said(one(2, 3, 7)) == [(True, False, 2), NEW, (True, False, 3)]


def test_a_late_reading_fills_its_gap() -> None:
    assert said(one(0, 3, 1, 2)) == [NEW, (True, False, 2), LATE, LATE]


def test_a_repeat_is_a_repeat_at_any_distance() -> None:
    assert said(one(0, 1, 0, 2, 1)) == [NEW, NEW, REPEATED, NEW, REPEATED]


def test_a_late_reading_that_comes_twice_is_late_once() -> None:
    assert said(one(0, 2, 1, 1)) == [NEW, (True, False, 1), LATE, REPEATED]


def test_a_boot_starts_anew_and_devices_do_not_mix() -> None:
    messages = [("a", 0, 0), ("b", 0, 0), ("a", 1, 0), ("a", 0, 1), ("b", 0, 0)]
    assert said(messages) == [NEW, NEW, NEW, NEW, REPEATED]


def test_what_was_seen_before_the_batch_counts() -> None:
    seen = marks(classify(table(one(0, 1, 5, 63, 64, 65)), NONE_SEEN))
    assert said(one(5, 4, 66, 64), seen) == [REPEATED, LATE, NEW, REPEATED]


def test_other_devices_in_seen_do_no_harm() -> None:
    seen = marks(classify(table([("x", 0, 900), ("d", 3, 900)]), NONE_SEEN))
    assert said(one(0, 1), seen) == [NEW, NEW]


def test_serials_up_to_the_largest() -> None:
    largest = 2**63 - 1
    seen = marks(classify(table(one(largest)), NONE_SEEN))
    assert said(one(largest, largest - 1), seen) == [REPEATED, LATE]


def test_no_rows() -> None:
    assert said([]) == []
    assert marks(classify(table([]), NONE_SEEN)).num_rows == 0


def oracle(messages: list[Message]) -> list[tuple[bool, bool, int]]:
    """The definition, one message at a time."""
    seen: set[Message] = set()
    top: dict[tuple[str, int], int] = {}
    told = []
    for device, boot, serial in messages:
        highest = top.get((device, boot), -1)
        first = (device, boot, serial) not in seen
        gap = max(0, serial - highest - 1) if first else 0
        told.append((first, first and serial < highest, gap))
        seen.add((device, boot, serial))
        top[device, boot] = max(highest, serial)
    return told


MESSAGES = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 1), st.integers(0, 140) | st.integers(0, 5)), max_size=60
)


@settings(max_examples=100)
@given(MESSAGES, st.lists(st.integers(0, 60), max_size=4))
def test_any_messages_in_any_batches_are_what_the_definition_says(messages: list[Message], cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(messages)) for cut in cuts), len(messages)]
    seen, told = NONE_SEEN, []
    for begin, end in pairwise(edges):
        classified = classify(table(messages[begin:end], begin), seen)
        rows: list[Any] = sorted(classified.to_pylist(), key=lambda row: row["offset"])
        told += [(row["first"], row["late"], row["gap"]) for row in rows]
        seen = pa.concat_tables([seen, marks(classified)])  # unjoined, as the table is between compactions
    assert told == oracle(messages)
    bits = {
        (row["device"], row["boot"], row["block"] * 64 + bit)
        for row in joined_marks(seen).to_pylist()
        for bit in range(64)
        if row["mask"] >> bit & 1
    }
    assert bits == set(messages)
