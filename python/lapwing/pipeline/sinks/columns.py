"""The columns of a record as Delta has them."""

from __future__ import annotations

import pyarrow as pa
from deltalake import Field as DeltaField
from deltalake import Schema as DeltaSchema

from lapwing.contracts.fields import Field, Record


def delta_schema(record: Record) -> DeltaSchema:
    """The columns as Delta has them, each with what it means."""
    columns = DeltaSchema.from_arrow(pa.schema(list(record.arrow_schema()))).fields
    return DeltaSchema([_commented(column, record[column.name]) for column in columns])


def _commented(column: DeltaField, field: Field) -> DeltaField:
    meaning = f"{field.meaning} [{field.unit}]" if field.unit else field.meaning
    return DeltaField(column.name, column.type, nullable=column.nullable, metadata={"comment": meaning})
