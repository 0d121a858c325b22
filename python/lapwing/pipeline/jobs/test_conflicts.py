"""Somebody else writes to a job's tables: is a batch written again, and does it end where that never ends?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PythonException

from lapwing.pipeline.errors import ConflictError, TableError
from lapwing.pipeline.jobs.coverage import CoverageJob


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


def written(tmp_path: Path, tables: Tables) -> Any:
    job: Any = CoverageJob("http://127.0.0.1:1/v1/streams/readings", tmp_path)
    return job._written(tables, None, 7)


def test_a_batch_in_whose_way_somebody_was_is_written_again(tmp_path: Path) -> None:
    vacuumed = PythonException("FileNotFoundError: /out/tables/seen/part-1.parquet")
    tables = Tables(ConflictError("changed"), vacuumed, FileNotFoundError("gone"))
    assert written(tmp_path, tables) == "batch 7"
    assert tables.refreshed == 4


@pytest.mark.parametrize("failure", [TableError("gone"), PythonException("ValueError: ours"), ConflictError("again")])
def test_what_does_not_pass_ends_it(tmp_path: Path, failure: Exception) -> None:
    with pytest.raises(type(failure)):
        written(tmp_path, Tables(*[failure] * 50))
