"""Reading the job's Delta tables into Arrow, with errors that say what to do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError

from lapwing.contracts.tables import TABLES
from lapwing.errors import LapwingError


class ReportError(LapwingError):
    """The report cannot be drawn: a table is missing, unreadable or of another version."""


def read(out: Path, name: str, columns: Sequence[str]) -> pa.Table:
    """Columns of table ``name`` under ``out/tables``, as the contract types them.

    Raises:
        ReportError: the table is not there, cannot be read, or lacks a column.
    """
    table = _open(out, name)
    try:
        read_table = pa.table(table.to_pyarrow_table(columns=list(columns)))
    except (DeltaError, OSError, pa.ArrowException, ValueError) as problem:
        raise ReportError(f"table {name} cannot be read: {problem}", where=str(out / "tables" / name)) from problem
    schema = TABLES[name].arrow_schema()
    return read_table.cast(pa.schema([schema.field(column) for column in columns]))


def rows(out: Path, name: str) -> int:
    """How many rows table ``name`` has, from its log alone.

    Raises:
        ReportError: the table is not there or cannot be read.
    """
    return int(_open(out, name).count())


def _open(out: Path, name: str) -> DeltaTable:
    path = out / "tables" / name
    try:
        return DeltaTable(str(path))
    except TableNotFoundError as problem:
        raise ReportError(
            "no such table", where=str(path), remedy="run the coverage job with this --out first"
        ) from problem
    except (DeltaError, OSError) as problem:
        raise ReportError(f"table {name} cannot be opened: {problem}", where=str(path)) from problem
