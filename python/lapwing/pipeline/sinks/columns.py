"""The columns of a record as Delta has them, and whether a table is one of that record."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
from deltalake import DeltaTable
from deltalake import Field as DeltaField
from deltalake import Schema as DeltaSchema
from deltalake.schema import PrimitiveType

from lapwing.contracts.fields import Field, Record

_ANOTHER = "give another --out"
_UNREADABLE = {"deletionVectors": "deletion vectors", "columnMapping": "column mapping"}
"""Files of such tables say less, or other things, than the table: whoever reads them as they are would be wrong."""


def why_unfit(table: DeltaTable, record: Record) -> tuple[str, str] | None:
    """What is wrong with ``table`` as one of ``record``, and what to do; None: nothing.

    What is needed has to be there; columns of others may be, too, where ours need not fill them.
    """
    foreign = unreadable(table)
    if foreign:
        return f"somebody has given it {foreign}", f"take that away (ALTER TABLE ... DROP FEATURE), or {_ANOTHER}"
    theirs = {column.name: column for column in table.schema().fields}
    missing = [each for each in record if each.name not in theirs]
    if missing and all(each.nullable for each in missing):
        named = ", ".join(each.name for each in missing)
        return f"it has no column {named}", "it is of an earlier release: run lapwing pipeline migrate with this --out"
    strange = [name for name, column in theirs.items() if name not in record.names and not column.nullable]
    if missing or strange:
        return f"it has the columns {', '.join(theirs)}", f"it is of another release: {_ANOTHER}"
    changed = _changed(theirs, record)
    if changed:
        return f"somebody has changed the type of {changed}", f"change it back, or {_ANOTHER}"
    return None


def _changed(theirs: Mapping[str, DeltaField], record: Record) -> str:
    """Columns whose type is not ours any more: our files would not fit what the table says of them."""
    ours = ((column.name, column.type) for column in delta_schema(record).fields)
    pairs = ((name, kind, theirs[name].type) for name, kind in ours)
    return ", ".join(
        f"{name} from {kind.type} to {their.type}"
        for name, kind, their in pairs
        if isinstance(kind, PrimitiveType) and isinstance(their, PrimitiveType) and kind != their
    )


def unreadable(table: DeltaTable) -> str:
    """What of Delta's features the table has that only some readers know; empty: nothing."""
    features = table.protocol().reader_features or []
    return ", ".join(name for feature, name in _UNREADABLE.items() if feature in features)


def delta_schema(record: Record) -> DeltaSchema:
    """The columns as Delta has them, each with what it means."""
    columns = DeltaSchema.from_arrow(pa.schema(list(record.arrow_schema()))).fields
    return DeltaSchema([_commented(column, record[column.name]) for column in columns])


def _commented(column: DeltaField, field: Field) -> DeltaField:
    meaning = f"{field.meaning} [{field.unit}]" if field.unit else field.meaning
    return DeltaField(column.name, column.type, nullable=column.nullable, metadata={"comment": meaning})
