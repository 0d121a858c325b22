"""Is each message known by its id once, whatever the order, the repeats and the cut into batches?"""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from lapwing.contracts.envelope import CARRIED
from lapwing.contracts.tables import SEEN
from lapwing.pipeline.transforms.carried import first_copies, message_marks
from lapwing.pipeline.transforms.late import named

NONE_SEEN = pa.schema(list(SEEN.arrow_schema())).empty_table()


def table(ids: list[str | None], first_offset: int = 0) -> pa.Table:
    return pa.table(
        {
            "message_id": pa.array(ids, pa.string()),
            "partition": pa.array([0] * len(ids), pa.int32()),
            "offset": pa.array(range(first_offset, first_offset + len(ids)), pa.int64()),
        }
    )


def told(ids: list[str | None], seen: pa.Table = NONE_SEEN) -> list[bool]:
    found: list[bool] = first_copies(table(ids), seen).tolist()
    return found


def test_of_two_copies_the_first_by_position_counts() -> None:
    assert told(["a", "b", "a", "a"]) == [True, True, False, False]
    turned = table(["a", "b", "a"]).take(pa.array([2, 1, 0]))
    assert first_copies(turned, NONE_SEEN).tolist() == [False, True, True]


def test_without_an_id_each_is_a_message() -> None:
    assert told([None, "a", None]) == [True, True, True]
    assert message_marks(table([None, None])).num_rows == 0
    assert told([]) == []


def test_a_device_that_is_called_as_an_id_is_another_thing() -> None:
    device = pa.Table.from_pylist([{"device": "a", "boot": 0, "block": 0, "mask": 1}], NONE_SEEN.schema)
    assert told(["a"], device) == [True]
    assert told(["a"], pa.concat_tables([device, message_marks(table(["a"]))])) == [False]


@given(st.lists(st.sampled_from([None, "a", "b", "c", "d"]), max_size=20), st.integers(0, 20))
def test_any_cut_into_batches_says_the_same(ids: list[str | None], cut: int) -> None:
    one = table(ids[:cut])
    first = first_copies(one, NONE_SEEN)
    seen = message_marks(one.filter(pa.array(first, pa.bool_())))
    two = first_copies(table(ids[cut:], first_offset=len(one)), seen)
    assert [*first, *two] == [each is None or each not in ids[:n] for n, each in enumerate(ids)]


def test_letters_of_one_message_are_told_apart_by_group_and_reason() -> None:
    """The last property of a name is the broker's."""
    said = [("g", "expired"), ("g", "expired"), ("h", "expired"), ("g", "refused"), None]
    rows = [
        {
            "message_id": "1f.0.7",
            "payload": b"",
            "user_properties": [
                {"name": "lapwing-group", "value": "the publisher's"},
                *({"name": f"lapwing-{n}", "value": v} for n, v in zip(("group", "reason"), each or (), strict=False)),
            ],
        }
        for each in said
    ]
    schema = pa.schema([CARRIED[name].arrow_field() for name in ("message_id", "payload", "user_properties")])
    names = named(pa.Table.from_pylist(rows, schema))["message_id"].to_pylist()
    assert names[0] == names[1]
    assert len(set(names)) == 4
    assert names[-1] == "1f.0.7"
    assert max(map(len, names)) <= len("1f.0.7") + 17


def test_a_miss_is_known_by_its_message_its_group_and_its_time() -> None:
    """It comes without an id of its own, and twice where the bridge has carried it twice."""
    miss: dict[str, Any] = {
        "group": "g", "filter": "a/#", "topic": "a/1", "client_id": "m", "lane": "bulk", "message_id": "1f.0.7",
        "deadline_ms": 250, "took_ms": 300.5, "at_us": 1_767_225_600_000_000,
    }  # fmt: skip
    others: list[dict[str, Any]] = [{"message_id": "1f.0.8"}, {"group": "h"}, {"filter": "#"}, {"at_us": 1}]
    unknown: list[dict[str, Any]] = [{"message_id": None}, {"message_id": None}, {"lane": "none"}]
    said = [miss, miss, *(miss | each for each in (*others, *unknown))]
    rows: list[dict[str, Any]] = [
        {"message_id": None, "user_properties": [], "payload": json.dumps(each).encode()} for each in said
    ]
    schema = pa.schema([CARRIED[name].arrow_field() for name in ("message_id", "payload", "user_properties")])
    names = named(pa.Table.from_pylist(rows, schema))["message_id"].to_pylist()
    assert names[0] == names[1]
    assert len({*names[:6]}) == 5
    assert names[6:] == [None] * 3
    assert told(names) == [True, False] + [True] * 7
