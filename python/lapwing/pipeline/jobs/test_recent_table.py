"""Is what is kept in memory what the table holds, read once, and bounded by age and number?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable
from hypothesis import given, settings
from hypothesis import strategies as st

from lapwing.contracts.command_tables import COMMAND_KEYS, PLACES
from lapwing.pipeline.jobs import recent_table
from lapwing.pipeline.jobs.recent_table import RecentTable
from lapwing.pipeline.sinks import delta
from lapwing.pipeline.sinks.delta import DeltaSink
from lapwing.pipeline.sinks.files import write_parts

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
NOON_US = round(NOON.timestamp() * 1e6)
SCHEMA = pa.schema(list(PLACES.arrow_schema()))
KEYS = COMMAND_KEYS["places"]
KEPT_S = 3600


@pytest.fixture(autouse=True)
def _no_slack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recent_table, "_SLACK_ROWS", 0)


def opened(folder: Path, **more: Any) -> RecentTable:
    return RecentTable(folder / "places", PLACES, KEYS, when="last_seen", kept_s=KEPT_S, **more)


def row(tile: int, seconds: int = 0, channel: int | None = 1) -> dict[str, Any]:
    """A place, seen so many seconds after noon."""
    at = NOON + timedelta(seconds=seconds)
    return {"tile": f"17/1/{tile}", "network": None, "channel": channel, "last_seen": at, "recent": [{"at": at}]}


def merge(table: RecentTable, *rows: dict[str, Any], to: int = 1) -> None:
    table.merge(pa.Table.from_pylist(list(rows), SCHEMA), "stream", {0: to})


def told(table: pa.Table) -> list[dict[str, Any]]:
    return sorted(table.to_pylist(), key=str)


def on_disk(folder: Path) -> list[dict[str, Any]]:
    return told(DeltaSink(folder / "places", PLACES, KEYS).read())


def tiles(table: RecentTable) -> list[str]:
    return sorted(each["tile"].removeprefix("17/1/") for each in table.read().to_pylist())


ROWS = st.builds(row, st.integers(0, 3), st.integers(0, 9), st.sampled_from([None, 1]))
BATCH = st.lists(ROWS, min_size=1, max_size=4, unique_by=lambda each: (each["tile"], each["channel"]))


@settings(max_examples=10)
@given(batches=st.lists(BATCH, max_size=4))
def test_memory_says_what_the_table_says(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[dict[str, Any]]]
) -> None:
    folder = tmp_path_factory.mktemp("table")
    table = opened(folder)
    for batch in batches:
        merge(table, *batch)
    assert told(table.read()) == on_disk(folder)
    known = pc.unique(table.read()["tile"])
    assert told(table.read("tile", known)) == told(table.read())
    assert told(opened(folder).read()) == on_disk(folder)


def test_it_is_read_once(tmp_path: Path) -> None:
    merge(opened(tmp_path), row(1))
    table = opened(tmp_path)
    with patch.object(DeltaSink, "read", autospec=True, side_effect=DeltaSink.read) as read:
        for second in range(3):
            table.read("tile", pa.array(["17/1/1"]))
            merge(table, row(2, second))
            table.forget(NOON_US)
            assert tiles(table) == ["1", "2"]
    assert read.call_count == 1


def test_what_is_old_is_let_go_and_positions_stay(tmp_path: Path) -> None:
    table = opened(tmp_path)
    merge(table, row(1, 0), row(2, 10), row(3, 20), to=7)
    table.forget(NOON_US + (KEPT_S + 5) * 1_000_000)
    assert tiles(table) == ["2", "3"]
    assert len(on_disk(tmp_path)) == 3  # too little to be gained
    table.forget(NOON_US + (KEPT_S + 15) * 1_000_000)
    assert tiles(table) == ["3"]
    assert on_disk(tmp_path) == told(table.read())
    assert opened(tmp_path).positions("stream", [0]) == {0: 7}
    table.forget(NOON_US + 2 * KEPT_S * 1_000_000)
    assert table.read().num_rows == len(on_disk(tmp_path)) == 0
    merge(table, row(4, 30))
    assert tiles(table) == tiles(opened(tmp_path)) == ["4"]


def test_a_place_that_was_let_go_comes_back_as_one_row(tmp_path: Path) -> None:
    table = opened(tmp_path)
    merge(table, row(1, 0, None), row(2, KEPT_S))
    table.forget(NOON_US + (KEPT_S + 5) * 1_000_000)
    assert tiles(table) == ["2"]
    merge(table, row(1, KEPT_S, None))
    assert told(table.read()) == on_disk(tmp_path)
    assert tiles(table) == ["1", "2"]


def test_of_too_many_the_oldest_go_and_are_counted(tmp_path: Path) -> None:
    table = opened(tmp_path, rows_max=2)
    merge(table, row(1, 3), row(2, 1), row(3, 2))
    table.forget(NOON_US)
    assert tiles(table) == ["1", "3"]
    assert table.surplus == 1


def test_after_a_commit_that_failed_it_is_read_again(tmp_path: Path) -> None:
    table = opened(tmp_path)
    merge(table, row(1))
    original = DeltaSink.merge

    def broken(self: DeltaSink, *arguments: Any) -> int:
        original(self, *arguments)
        raise OSError("was it written?")

    with patch.object(DeltaSink, "merge", broken), pytest.raises(OSError, match="written"):
        merge(table, row(2))
    assert tiles(table) == ["1", "2"]


def test_while_others_make_few_files_of_many_it_is_written_anew_another_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their commit between its look and its own: both would stand, and each row twice."""
    table = opened(tmp_path)
    for number, seconds in enumerate((0, 10, 20)):
        merge(table, row(number, seconds))

    def meanwhile(*arguments: Any) -> Any:
        DeltaTable(table.folder).optimize.compact()
        return write_parts(*arguments)

    at_us = NOON_US + (KEPT_S + 15) * 1_000_000
    with monkeypatch.context() as patch:
        patch.setattr(delta, "write_parts", meanwhile)
        table.forget(at_us)
    assert tiles(table) == ["2"]
    assert len(on_disk(tmp_path)) == 3
    table.forget(at_us)
    assert on_disk(tmp_path) == told(table.read())
