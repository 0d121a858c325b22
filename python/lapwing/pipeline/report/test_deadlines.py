"""The deadlines picture: what it shows of few rows, of many, of none, and of names that clients chose."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from lapwing.contracts.late_tables import LATE_TABLES
from lapwing.pipeline.report.deadlines_facts import WAITED, deadline_facts
from lapwing.pipeline.report.deadlines_picture import draw_deadlines
from lapwing.pipeline.report.style import DARK
from lapwing.pipeline.report.tables import ReportError

START = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)


def write(out: Path, misses: list[dict[str, Any]], letters: list[dict[str, Any]]) -> Path:
    """Tables with these rows; the rest of a row is made up."""
    whole = {
        "misses": [
            {"minute": START, "group": "g", "filter": "a/#", "lane": "bulk", "member": "m", "missed": 1,
             "late_ms_sum": 5, "late_ms_max": 5} | row
            for row in misses
        ],
        "dead_letters": [
            {"minute": START, "group": "g", "reason": "deadline_passed", "count": 1, "bytes": 1, "age_ms_sum": 1,
             "age_ms_max": 1} | row
            for row in letters
        ],
    }  # fmt: skip
    for name, rows in whole.items():
        schema = pa.schema(list(LATE_TABLES[name].arrow_schema()))
        write_deltalake(str(out / "tables" / name), pa.Table.from_pylist(rows, schema))
    return out


def test_facts_are_exact(tmp_path: Path) -> None:
    later = START + timedelta(minutes=3)
    letters: list[dict[str, Any]] = [{"count": 7, "minute": later}, {"count": 1, "group": "h"}]
    misses: list[dict[str, Any]] = [
        {"missed": 4, "lane": "critical", "late_ms_max": 900},
        {"missed": 2, "minute": later},
        {"missed": 3, "member": None},
    ]
    facts = deadline_facts(write(tmp_path, misses, letters))
    assert facts is not None
    assert {name: counts.tolist() for name, counts in facts.misses.by_kind.items()} == {
        "critical": [4, 0, 0, 0],
        "bulk": [3, 0, 0, 2],
    }
    assert list(facts.misses.by_row.items()) == [("g: m", 6), (f"g: {WAITED}", 3)]
    assert (facts.dead_letters.total, facts.dead_letters.by_row) == (8, {"g": 7, "h": 1})
    assert facts.late_ms_max == 900


@pytest.mark.parametrize(
    ("misses", "letters"),
    [
        ([], []),
        ([{}], []),
        ([], [{}]),
        ([{"member": f"$m_{n}^{{\\frac", "minute": START + timedelta(minutes=n)} for n in range(200)], [{}]),
        ([{"lane": "critical"}], [{"reason": f"$forged {n}"} for n in range(20)]),
    ],
    ids=["nothing", "one miss", "one letter", "many members with markup", "many reasons"],
)
def test_every_size_is_drawn(tmp_path: Path, misses: list[Any], letters: list[Any]) -> None:
    write(tmp_path, misses, letters)
    for scheme in (None, DARK):
        path = draw_deadlines(tmp_path, *([scheme] if scheme else []))
        assert path.read_bytes().startswith(b"\x89PNG")


def test_a_folder_without_tables_is_told(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="run the job that writes it"):
        draw_deadlines(tmp_path)
