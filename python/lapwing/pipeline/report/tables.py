"""Reading the job's Delta tables into Arrow, with errors that say what to do.

The files are read by Arrow itself. ``DeltaTable.to_pyarrow_table`` lets Arrow's threads call back into Python, and a
process that ends soon after may be killed by one that is still on its way out ("terminate called without an active
exception").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError
from pyarrow.fs import LocalFileSystem

from lapwing.contracts.command_tables import COMMAND_TABLES
from lapwing.contracts.late_tables import LATE_TABLES
from lapwing.contracts.tables import TABLES
from lapwing.errors import LapwingError
from lapwing.pipeline.sinks.columns import unreadable
from lapwing.pipeline.sinks.doors import opened
from lapwing.pipeline.sinks.files import PARQUET
from lapwing.pipeline.sinks.paths import partitions_by_file

_TRIES = 3
"""Somebody may make few files of many, and delete those, while they are read."""


class ReportError(LapwingError):
    """The report cannot be drawn: a table is missing, unreadable or of another version."""


def read(out: Path, name: str, columns: Sequence[str] | None = None) -> pa.Table:
    """Columns (default: all) of table ``name`` under ``out/tables``, as the contract types them.

    Raises:
        ReportError: the table is not there, cannot be read, or lacks a column.
    """
    contract = ({**LATE_TABLES, **COMMAND_TABLES, **TABLES})[name].arrow_schema()
    wanted = list(contract.names if columns is None else columns)
    for left in reversed(range(_TRIES)):
        try:
            found = _found(out, name, wanted)
        except FileNotFoundError as problem:
            if not left:
                gone = Path(str(problem).partition("'. Detail: ")[0]).name  # Arrow says it in words only
                told = f"table {name} cannot be read: its file {gone} is gone"
                raise ReportError(told, where=str(out / "tables" / name), remedy="bring it back") from problem
        except (DeltaError, OSError, pa.ArrowException, ValueError) as problem:
            raise ReportError(f"table {name} cannot be read: {problem}", where=str(out / "tables" / name)) from problem
        else:
            return found.cast(pa.schema([contract.field(column) for column in wanted]))
    raise AssertionError("unreachable")


def _found(out: Path, name: str, wanted: Sequence[str]) -> pa.Table:
    table, folder = _open(out, name), (out / "tables" / name).absolute()
    schema = pa.schema(table.schema().to_arrow())
    fragments = [_fragment(path, partition) for path, partition in partitions_by_file(table, folder).items()]
    return ds.FileSystemDataset(fragments, schema, PARQUET).to_table(columns=wanted)


def _fragment(path: Path, partition: Mapping[str, Any]) -> ds.Fragment:
    """A file, with what the table's log says of all its rows."""
    said = pc.scalar(True)
    for name, value in partition.items():
        said &= pc.field(name).is_null() if value is None else pc.field(name) == value
    return PARQUET.make_fragment(str(path), LocalFileSystem(), said)


def rows(out: Path, name: str) -> int:
    """How many rows table ``name`` has, from its log alone.

    Raises:
        ReportError: the table is not there or cannot be read.
    """
    return int(_open(out, name).count())


def _open(out: Path, name: str) -> DeltaTable:
    path = (out / "tables" / name).absolute()  # one that begins with ~ or has a colon is not taken for a URL
    try:
        table = opened(path)
    except TableNotFoundError as problem:
        raise ReportError(
            "no such table", where=str(path), remedy="run the job that writes it with this --out first"
        ) from problem
    except (DeltaError, OSError) as problem:
        raise ReportError(f"table {name} cannot be opened: {problem}", where=str(path)) from problem
    foreign = unreadable(table)
    if foreign:
        raise ReportError(
            f"table {name} has {foreign}", where=str(path), remedy="take that away: ALTER TABLE ... DROP FEATURE"
        )
    return table
