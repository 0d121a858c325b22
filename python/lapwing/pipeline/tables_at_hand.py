"""The tables of a job in the hands of somebody else, maintenance or a migration: which there are, whether a job runs
beside, and errors that name the table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError

from lapwing.contracts.command_tables import COMMAND_TABLES
from lapwing.contracts.fields import Record
from lapwing.contracts.late_tables import LATE_TABLES
from lapwing.contracts.tables import TABLES
from lapwing.errors import ConfigError
from lapwing.pipeline.errors import TableError
from lapwing.pipeline.jobs.folder import JobFolder
from lapwing.pipeline.sinks.doors import opened
from lapwing.pipeline.sinks.paths import check_folder

RECORDS: Mapping[str, Record] = {**COMMAND_TABLES, **LATE_TABLES, **TABLES}
"""Of all tables that jobs write, by name."""


def tables_of(out: Path) -> list[Path]:
    """The folders of those that are under ``out``.

    Raises:
        ConfigError: There are none, or ``out`` is no path that Delta takes.
    """
    check_folder("--out", out)
    out = out.absolute()  # one that begins with ~ or has a colon is not taken for a URL
    found = [out / "tables" / name for name in RECORDS if (out / "tables" / name / "_delta_log").is_dir()]
    if not found:
        raise ConfigError("there are no tables", where=str(out / "tables"), remedy="give the --out of a job")
    return found


@contextmanager
def free_of_jobs(out: Path, work: str) -> Iterator[bool]:
    """Whether no job runs; none begins meanwhile, and one that is started is told of this ``work``."""
    folder = JobFolder.tried(out, work)
    try:
        yield folder is not None
    finally:
        if folder is not None:
            folder.release()


def opened_table(folder: Path) -> DeltaTable:
    """The table as it is now.

    Raises:
        TableError: It cannot be opened.
    """
    try:
        return opened(folder)
    except (DeltaError, OSError, TableNotFoundError) as error:
        raise unusable(folder, error, "bring it back, or remove it") from None


@contextmanager
def named_in_errors(folder: Path) -> Iterator[None]:
    """Whatever goes wrong with the files of a table meanwhile is an error that names it."""
    try:
        yield
    except FileNotFoundError as error:
        gone = Path(str(error.filename or error)).name
        raise unusable(folder, f"its file {gone} is gone", "bring it back, or give another --out") from None
    except (DeltaError, OSError, pa.ArrowException) as error:
        raise unusable(folder, error, "are its files whole, and may this user change them?") from None


def unusable(folder: Path, error: object, remedy: str) -> TableError:
    """What is told of a table with which ``error`` happened: its first line."""
    told = next(iter(str(error).splitlines()), type(error).__name__)
    return TableError(f"table {folder.name} cannot be used: {told}", where=str(folder), remedy=remedy)
