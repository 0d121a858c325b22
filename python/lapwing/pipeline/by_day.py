"""Tables of version 1 lay in one folder: their rows are written anew into folders by day, which they have had since."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
from deltalake import DeltaTable, write_deltalake

from lapwing.contracts.tables import PARTITIONED
from lapwing.pipeline.sinks.doors import for_data
from lapwing.pipeline.sinks.files import PARQUET
from lapwing.pipeline.sinks.paths import table_files
from lapwing.pipeline.transforms.days import DAY, days


def lacks_days(table: DeltaTable, name: str) -> bool:
    """Whether the table ``name`` of a job of today would be partitioned by day, and ``table`` is not."""
    return name in PARTITIONED and DAY not in table.metadata().partition_columns


def bring_into_days(table: DeltaTable, folder: Path) -> None:
    """Writes all rows anew, some at a time, in one commit: who is killed before has changed nothing.

    Positions, settings and columns of others stay. The files of before are needed by no version, and go with the next
    VACUUM.

    Args:
        table: Has the columns of today.
        folder: Its own.
    """
    schema = pa.schema(table.schema().to_arrow())
    rows = pa.RecordBatchReader.from_batches(schema, _with_days(table, folder, schema))
    with for_data(table, folder) as (within, hooks):
        write_deltalake(
            within,
            rows,
            mode="overwrite",
            schema_mode="overwrite",
            partition_by=[DAY],
            post_commithook_properties=hooks,
        )


def _with_days(table: DeltaTable, folder: Path, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    paths = [str(path) for path in table_files(table, folder)]
    if not paths:
        return
    for batch in ds.dataset(paths, schema=schema, format=PARQUET).to_batches():
        rows = pa.Table.from_batches([batch])
        dated = rows.set_column(rows.column_names.index(DAY), schema.field(DAY), days(rows))
        yield from dated.cast(schema).to_batches()
