"""Does `classify` say of every reading what it is, whatever the order, the repeats and the cut into batches?"""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from itertools import pairwise
from typing import Any
from unittest.mock import Mock

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lapwing.contracts.tables import SEEN
from lapwing.pipeline.transforms import repeats
from lapwing.pipeline.transforms.quality import joined_quality, quality
from lapwing.pipeline.transforms.repeats import JUMP_MAX, classify, joined_marks, marks

NONE_SEEN = pa.schema(list(SEEN.arrow_schema())).empty_table()
Message = tuple[Any, ...]
"""Device, boot, serial; what it says (its RSRP), else 0; and whether it breaks the contract."""


def table(messages: Sequence[Message], first_offset: int = 0) -> pa.Table:
    whole = [(*message, 0, False)[: max(len(message), 4)] for message in messages]
    whole = [message if len(message) == 5 else (*message, False) for message in whole]
    devices, boots, serials, values, broken = zip(*whole, strict=True) if whole else ((), (), (), (), ())
    return pa.table(
        {
            "device": pa.array(devices, pa.string()),
            "boot": pa.array(boots, pa.int64()),
            "serial": pa.array(serials, pa.int64()),
            "rsrp_dbm": pa.array(values, pa.int32()),
            "reason": pa.array(["not_a_time" if each else None for each in broken], pa.string()),
            "partition": pa.array([0] * len(whole), pa.int32()),
            "offset": pa.array(range(first_offset, first_offset + len(whole)), pa.int64()),
        }
    )


def judged(
    messages: Sequence[Message], seen: pa.Table = NONE_SEEN, start: int = 0, holes: Sequence[int] = ()
) -> list[dict[str, Any]]:
    """The flags of each message, in the order they came."""
    found = classify(table(messages), seen, {0: start}, holes=holes)
    return sorted(found.to_pylist(), key=lambda row: row["offset"])


def said(messages: Sequence[Message], seen: pa.Table = NONE_SEEN) -> list[tuple[bool, bool, int]]:
    """(first, late, gap) per message, in the order they came."""
    return [(row["first"], row["late"], row["gap"]) for row in judged(messages, seen)]


def kinds(
    messages: Sequence[Message], seen: pa.Table = NONE_SEEN, start: int = 0, holes: Sequence[int] = ()
) -> list[str]:
    """What each is, in a word; and what it says about serials that are missing."""
    told = []
    for row in judged(messages, seen, start, holes):
        names = ("first", "repeated", "reused", "jumped")
        word = next((name for name in names if row[name]), "broken")
        counts = "".join(f" {name} {row[name]}" for name in ("gap", "recovered", "before_start") if row[name])
        told.append(word + counts)
    return told


def remembered(
    messages: Sequence[Message], start: int = 0, seen: pa.Table = NONE_SEEN, holes: Sequence[int] = ()
) -> pa.Table:
    """With what was ``seen`` before."""
    return joined_marks(pa.concat_tables([seen, marks(classify(table(messages), seen, {0: start}, holes=holes))]))


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


def test_a_serial_that_no_device_can_have_reached_counts_nothing() -> None:
    """Two boots that say 2**63 - 1 wrapped the sum of gaps; and what comes after it is no late reading."""
    largest = 2**63 - 1
    messages = [("d", 0, largest), ("d", 1, largest), *one(0, 1, largest - 1, 2)]
    assert kinds(messages) == ["jumped", "jumped", "first", "first", "jumped", "first"]
    assert kinds(one(largest, 66), remembered(one(*range(65)))) == ["jumped", "first gap 1"]
    assert kinds(one(JUMP_MAX, 0)) == [f"first gap {JUMP_MAX}", "first recovered 1"]
    assert kinds(one(JUMP_MAX + 1, 0)) == ["jumped", "first"]
    of_times = [1_700_000_000_000_000 + 1_000_000 * second for second in range(4)]
    assert kinds(one(*of_times, 0, *of_times[:2], 1)) == [*["jumped"] * 4, "first", "jumped", "jumped", "first"]


@pytest.mark.parametrize("count", [3, 300])
def test_serials_that_are_times_cost_no_more_looks_than_others(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Each jump was found in a pass of its own over all rows of the batch."""
    looks = Mock(side_effect=repeats._highest_before)
    monkeypatch.setattr(repeats, "_highest_before", looks)
    assert set(kinds(one(*range(2**62, 2**62 + count)))) == {"jumped"}
    assert looks.call_count == 2


def test_a_fleet_whose_boots_are_times_takes_memory_by_its_size() -> None:
    """A table of all names and all boots had the square of it: 20 GB for a batch of 50,000 devices."""
    fleet = 3_000
    messages = table([(f"d{number}", 1_700_000_000 + number, 0) for number in range(fleet)])
    seen = marks(classify(messages, NONE_SEEN))
    tracemalloc.start()
    try:
        again = classify(messages, seen)
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert pc.all(again["repeated"]).as_py()
    assert peak_bytes < fleet * fleet * 4


@pytest.mark.parametrize("cut", [0, 2, 3])
def test_a_repeat_says_the_same_and_anything_else_does_not_vanish(cut: int) -> None:
    """In one batch, and with what ``seen`` remembers: the boot did not rise, or another client uses the serials."""
    said_by = [(0, -80), (1, -81), (0, -80), (0, -110), (1, -81), (2, -1)]
    messages = [("d", 0, serial, value) for serial, value in said_by]
    expected = ["first", "first", "repeated", "reused", "repeated", "first"]
    assert kinds(messages[cut:], remembered(messages[:cut])) == expected[cut:]


def test_where_nobody_knows_what_was_said_it_is_a_repeat() -> None:
    """Tables of before version 2 remember serials only."""
    seen = remembered(one(0, 1))
    old = seen.set_column(4, "prints", pa.nulls(seen.num_rows, pa.binary()))
    assert kinds([("d", 0, 1, -110)], old) == ["repeated"]
    both = pa.concat_tables([old, marks(classify(table(one(2)), old))])
    assert kinds([("d", 0, 1, -110), ("d", 0, 2, -110)], joined_marks(both)) == ["repeated", "reused"]


def test_prints_are_asked_for_only_where_something_comes_again() -> None:
    seen = remembered([("a", 0, 0), ("b", 0, 0), ("b", 0, 1)])
    asked: list[list[str]] = []

    def prints_of(devices: pa.Array) -> pa.Table:
        asked.append(devices.to_pylist())
        return seen.filter(pc.is_in(seen["device"], value_set=devices))

    without = seen.drop_columns(["prints"])
    rows = classify(table([("a", 0, 1), ("b", 0, 2)]), without, {}, prints_of)
    assert (rows["first"].to_pylist(), asked) == ([True, True], [])
    rows = classify(table([("a", 0, 1), ("b", 0, 1), ("b", 0, 0, -9)]), without, {}, prints_of)
    assert (rows["repeated"].to_pylist(), rows["reused"].to_pylist()) == ([False, True, False], [False, False, True])
    assert asked == [["b"]]


@pytest.mark.parametrize("cut", range(5))
def test_what_arrived_broken_is_not_missing(cut: int) -> None:
    broken = ("d", 0, 2, 0, True), ("d", 0, 1, 0, True), ("d", 0, 3, 0, True)
    messages = [("d", 0, 0), broken[0], broken[1], ("d", 0, 2, -1), ("d", 0, 3), broken[2]]
    expected = ["first", "broken gap 1", "broken recovered 1", "first", "first", "broken"]
    assert kinds(messages[cut:], remembered(messages[:cut])) == expected[cut:]


def test_what_came_before_the_job_began_is_not_missing() -> None:
    """And what of it comes late is taken from it; a boot that began while the job listened has no such past."""
    messages = one(50, 53, 49, 51)
    expected = ["first before_start 50", "first gap 2", "first before_start -1", "first recovered 1"]
    for cut in range(4):
        assert kinds(messages[cut:], remembered(messages[:cut], start=7), start=7) == expected[cut:]
    assert kinds(messages[:1]) == ["first gap 50"]
    assert kinds([("d", 3, 5), ("d", 4, 2)], start=7) == ["first before_start 5", "first gap 2"]
    assert kinds([("d", 4, 2)], remembered([("d", 3, 0)], start=7), start=7) == ["first gap 2"]


def test_what_was_deleted_before_it_was_read_is_not_missing() -> None:
    """Nor is what comes of it after all; what is missing on either side of the hole is."""
    before, after = one(0, 2), one(9, 11, 5, 10)
    seen = remembered(before)
    expected = ["first before_start 6", "first gap 1", "first before_start -1", "first recovered 1"]
    assert kinds(after, seen, holes=[0]) == expected
    assert kinds(after, seen, holes=[1])[0] == "first gap 6"
    later = remembered(after[:1], seen=seen, holes=[0])
    assert kinds(after[1:], later) == expected[1:]
    # Behind a second hole the first one counts no more.
    again = remembered(one(20), seen=later, holes=[0])
    assert kinds(one(15, 21), again) == ["first before_start -1", "first"]
    assert kinds(one(7), holes=[0]) == ["first before_start 7"]
    # Who has skipped nothing has no hole.
    assert kinds(one(3, 1), seen, holes=[0]) == ["first", "first recovered 1"]


def test_no_rows() -> None:
    assert said([]) == []
    assert marks(classify(table([]), NONE_SEEN)).num_rows == 0


def oracle(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The definition, one message at a time."""
    readings: dict[Any, int] = {}
    broken: set[Any] = set()
    top: dict[Any, int] = {}
    told = []
    for device, boot, serial, value, is_broken in messages:
        key, highest = (device, boot, serial), top.get((device, boot), -1)
        row: dict[str, Any] = {"first": False, "repeated": False, "reused": False, "gap": 0, "recovered": 0}
        if serial > highest:
            row["gap"] = serial - highest - 1
        elif key not in readings and key not in broken:
            row["recovered"] = 1
        if is_broken:
            broken.add(key)
        elif key in readings:
            row["repeated" if readings[key] == value else "reused"] = True
        else:
            readings[key] = value
            row["first"] = True
        top[device, boot] = max(highest, serial)
        told.append(row)
    return told


MESSAGES = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.integers(0, 1),
        st.integers(0, 140) | st.integers(0, 5),
        st.integers(-100, -99),
        st.sampled_from([False, False, False, True]),
    ),
    max_size=60,
)


@settings(max_examples=100)
@given(MESSAGES, st.lists(st.integers(0, 60), max_size=4))
def test_any_messages_in_any_batches_are_what_the_definition_says(messages: list[Message], cuts: list[int]) -> None:
    edges = [0, *sorted(min(cut, len(messages)) for cut in cuts), len(messages)]
    seen, told, parts = NONE_SEEN, [], []
    for begin, end in pairwise(edges):
        classified = classify(table(messages[begin:end], begin), seen)
        told += sorted(classified.to_pylist(), key=lambda row: row["offset"])
        parts.append(quality(with_minute(classified)))
        seen = pa.concat_tables([seen, marks(classified)])  # unjoined, as the table is between compactions
    assert [{name: row[name] for name in expected} for row, expected in zip(told, oracle(messages), strict=True)] == (
        oracle(messages)
    )
    bits = {
        (row["device"], row["boot"], row["block"] * 64 + bit)
        for row in joined_marks(seen).to_pylist()
        for bit in range(64)
        if row["block"] >= 0 and row["mask"] >> bit & 1
    }
    assert bits == {message[:3] for message in messages if not message[4]}
    add_up(messages, told, joined_quality(pa.concat_tables(parts)))


def add_up(messages: list[Message], told: list[dict[str, Any]], rows: pa.Table) -> None:
    """Every message counts somewhere: sent = readings + repeated + quarantined + missing."""
    total = {name: sum(rows[name].to_pylist()) for name in rows.column_names if name not in ("device", "minute")}
    readings = sum(row["first"] for row in told)
    assert total["received"] == readings + total["repeated"]
    assert total["lost"] == total["missing"]
    # What a device has sent, as far as anybody can know: what came, and each serial below the highest that did not.
    tops: dict[Any, int] = {}
    for device, boot, serial, *_ in messages:
        tops[device, boot] = max(tops.get((device, boot), -1), serial)
    never_came = sum(top + 1 for top in tops.values()) - len({message[:3] for message in messages})
    sent = len(messages) + never_came
    assert sent == readings + total["repeated"] + total["quarantined"] + total["missing"]


def with_minute(rows: pa.Table) -> pa.Table:
    return rows.append_column("ingress_at", pa.array([0] * rows.num_rows, pa.timestamp("us", "UTC")))


LARGEST = 2**63 - 1
ODD = st.tuples(
    st.sampled_from("ab"),
    st.sampled_from([0, 1, LARGEST]),
    st.integers(0, 6) | st.integers(0, 140) | st.sampled_from([JUMP_MAX, JUMP_MAX + 1, 2**62, LARGEST - 1, LARGEST]),
    st.sampled_from([-1, -2]),
    st.booleans(),
)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.lists(ODD, max_size=8), st.booleans()), max_size=4), st.sampled_from([0, 7]))
def test_any_history_adds_up(batches: list[tuple[list[Message], bool]], start: int) -> None:
    """Boots that fall, serials of 63 bits, jumps, a job that began late, and holes before batches: nothing vanishes,
    nothing is negative, and below the highest serial each has come, is missing, or is nobody's loss.
    """
    seen, parts = NONE_SEEN, []
    told: list[dict[str, Any]] = []
    for messages, has_hole in batches:
        classified = classify(table(messages, len(told)), seen, {0: start}, holes=[0] if has_hole and told else [])
        told += classified.to_pylist()
        parts.append(quality(with_minute(classified)))
        seen = pa.concat_tables([seen, marks(classified)])
    rows = joined_quality(pa.concat_tables(parts)) if parts else quality(with_minute(classify(table([]), seen)))
    total = {name: sum(rows[name].to_pylist()) for name in ("repeated", "quarantined", "missing", "before_start")}
    assert len(told) == sum(row["first"] for row in told) + total["repeated"] + total["quarantined"]
    assert min(total.values()) >= 0
    tops: dict[Any, int] = {}
    came = [row for row in told if not row["jumped"]]
    for row in came:
        tops[row["device"], row["boot"]] = max(tops.get((row["device"], row["boot"]), -1), row["serial"])
    never_came = sum(top + 1 for top in tops.values()) - len({(r["device"], r["boot"], r["serial"]) for r in came})
    assert never_came == total["missing"] + total["before_start"]
