"""Tables of an earlier release, brought over to this one: what columns they lack, and folders by day."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from deltalake.exceptions import CommitFailedError, DeltaError

from lapwing.pipeline.by_day import bring_into_days, lacks_days
from lapwing.pipeline.errors import TableError
from lapwing.pipeline.maintenance_lock import MIGRATION, at_work
from lapwing.pipeline.sinks.columns import delta_schema, unreadable
from lapwing.pipeline.sinks.delta import VERSION_KEY
from lapwing.pipeline.tables_at_hand import (
    RECORDS,
    free_of_jobs,
    named_in_errors,
    opened_table,
    tables_of,
    unusable,
)

BY_DAY = "folders by day"


def migrate(out: Path) -> dict[str, list[str]]:
    """Brings tables of an earlier release over: columns that are new are null in their old rows, and what has
    folders by day today gets them. Gives by table what was done: those columns, and `BY_DAY`.

    Raises:
        ConfigError: ``out`` has no tables.
        TableError: A job or maintenance is at work there, or a table cannot be brought over.
    """
    found = tables_of(out)
    with at_work(out, MIGRATION), free_of_jobs(out, MIGRATION) as free:
        if not free:
            raise TableError("a job writes here", where=str(out), remedy="stop it, then migrate")
        done = {}
        for folder in found:
            with named_in_errors(folder):
                done[folder.name] = _migrated(folder)
        return done


def _migrated(folder: Path) -> list[str]:
    record, table = RECORDS[folder.name], opened_table(folder)
    if foreign := unreadable(table):  # who writes its files anew would bring back what was deleted
        told = f"table {folder.name} cannot be brought over: somebody has given it {foreign}"
        raise TableError(told, where=str(folder), remedy="take that away (ALTER TABLE ... DROP FEATURE)")
    known = [column.name for column in table.schema().fields]
    new = [field for field in record if field.name not in known]
    needed = [field.name for field in new if not field.nullable]
    if needed:
        raise TableError(
            f"table {folder.name} has no column {', '.join(needed)}, which no row can be without",
            where=str(folder),
            remedy="give another --out; the stream makes the same tables again, of what retention has left",
        )
    if new:
        named = [field.name for field in new]
        table.alter.add_columns([column for column in delta_schema(record).fields if column.name in named])
    done = [field.name for field in new]
    if lacks_days(table, record.name):
        _brought_into_days(folder)
        table, done = opened_table(folder), [*done, BY_DAY]
    if table.metadata().configuration.get(VERSION_KEY) != str(record.version):
        table.alter.set_table_properties({VERSION_KEY: str(record.version)}, raise_if_not_exists=False)
    return done


def _brought_into_days(folder: Path) -> None:
    try:
        bring_into_days(opened_table(folder), folder)
    except (CommitFailedError, DeltaError, OSError, pa.ArrowException) as error:
        raise unusable(folder, error, "nothing has changed; is there room for its rows a second time?") from None
