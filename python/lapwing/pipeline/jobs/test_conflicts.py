"""Somebody else writes to a job's tables: is a batch written again, and does it end where that never ends?"""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.errors import PythonException

from lapwing.pipeline.errors import ConflictError, TableError
from lapwing.pipeline.jobs.conflicts import write_among_others

NO_ROWS: Any = None
"""Nobody here looks at them."""


class Tables:
    """Fails so often, each time as it is told."""

    def __init__(self, *failures: Exception) -> None:
        self._failures = list(failures)
        self.refreshed = 0

    def refresh(self) -> None:
        self.refreshed += 1

    def write(self, _rows: Any, batch: int) -> str:
        if self._failures:
            raise self._failures.pop(0)
        return f"batch {batch}"


def written(tables: Any) -> Any:
    return write_among_others(tables, NO_ROWS, 7)


def test_a_batch_in_whose_way_somebody_was_is_written_again() -> None:
    vacuumed = PythonException("FileNotFoundError: /out/tables/seen/part-1.parquet")
    tables = Tables(ConflictError("changed"), vacuumed, FileNotFoundError("gone"))
    assert written(tables) == "batch 7"
    assert tables.refreshed == 4


def test_a_file_that_stays_away_is_named() -> None:
    with pytest.raises(TableError, match=r"a file that a table is made of is gone \(/out/part-1\.parquet\)"):
        written(Tables(*[FileNotFoundError("/out/part-1.parquet")] * 50))


@pytest.mark.parametrize("failure", [TableError("gone"), PythonException("ValueError: ours"), ConflictError("again")])
def test_what_does_not_pass_ends_it(failure: Exception) -> None:
    with pytest.raises(type(failure)):
        written(Tables(*[failure] * 50))
