"""Are misses and dead letters added up the same however a batch is cut and its parts are joined?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from lapwing.contracts.late_tables import DEAD_LETTERS, LATE_KEYS, MISSES
from lapwing.pipeline.transforms.late import dead_letters, misses

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
A_MISS = st.fixed_dictionaries(
    {
        "minute": st.sampled_from([NOON, NOON + timedelta(minutes=1)]),
        "group": st.sampled_from(["g", "h"]),
        "filter": st.just("a/#"),
        "lane": st.sampled_from(["critical", "bulk"]),
        "member": st.sampled_from(["m", "", None]),
        "missed": st.just(1),
        "late_ms_sum": st.integers(0, 10**6),
    }
).map(lambda row: row | {"late_ms_max": row["late_ms_sum"]})


def table(record: Any, rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, pa.schema(list(record.arrow_schema())))


def by_key(name: str, rows: pa.Table) -> dict[tuple[Any, ...], dict[str, Any]]:
    found = {tuple(row[key] for key in LATE_KEYS[name]): row for row in rows.to_pylist()}
    assert len(found) == rows.num_rows
    return found


@settings(max_examples=60)
@given(rows=st.lists(A_MISS, max_size=30), cut=st.integers(0, 30))
def test_misses_in_any_parts(rows: list[dict[str, Any]], cut: int) -> None:
    whole = misses(table(MISSES, rows))
    parts = [misses(table(MISSES, part)) for part in (rows[:cut], rows[cut:])]
    assert by_key("misses", misses(pa.concat_tables(parts))) == by_key("misses", whole)
    assert sum(whole["missed"].to_pylist()) == len(rows)
    assert sum(whole["late_ms_sum"].to_pylist()) == sum(row["late_ms_sum"] for row in rows)
    assert max(whole["late_ms_max"].to_pylist(), default=0) == max((row["late_ms_sum"] for row in rows), default=0)


def test_dead_letters_by_reason() -> None:
    row = {"minute": NOON, "group": "g", "reason": "r", "count": 1, "bytes": 3, "age_ms_sum": 5, "age_ms_max": 5}
    found = dead_letters(table(DEAD_LETTERS, [row, row | {"age_ms_sum": 9, "age_ms_max": 9}, row | {"reason": "s"}]))
    assert by_key("dead_letters", found)[NOON, "g", "r"] == row | {
        "count": 2,
        "bytes": 6,
        "age_ms_sum": 14,
        "age_ms_max": 9,
    }
    assert found.num_rows == 2
