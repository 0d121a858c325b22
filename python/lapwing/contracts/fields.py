"""A record's fields as a table, and its renderings for Arrow, Spark and JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType

Kind = Literal["string", "binary", "bool", "int8", "int32", "int64", "float64", "time", "rows"]
"""``time`` is microseconds since the epoch, UTC; ``rows`` is a list of records (`Field.rows`)."""

_ARROW: Mapping[str, pa.DataType] = {
    "string": pa.string(),
    "binary": pa.binary(),
    "bool": pa.bool_(),
    "int8": pa.int8(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "float64": pa.float64(),
    "time": pa.timestamp("us", "UTC"),
}
_SPARK: Mapping[str, str] = {
    "string": "StringType",
    "binary": "BinaryType",
    "bool": "BooleanType",
    "int8": "ByteType",
    "int32": "IntegerType",
    "int64": "LongType",
    "float64": "DoubleType",
    "time": "TimestampType",
}
_JSON: Mapping[str, Mapping[str, str]] = {
    "string": {"type": "string"},
    "bool": {"type": "boolean"},
    "int8": {"type": "integer"},
    "int32": {"type": "integer"},
    "int64": {"type": "integer"},
    "float64": {"type": "number"},
    "time": {"type": "string", "format": "date-time"},
}


@dataclass(frozen=True, slots=True)
class Field:
    """One column of a record.

    ``low`` and ``high`` are inclusive: a number's value, a string's length in characters, or (for ``time``)
    microseconds since the epoch.
    """

    name: str
    kind: Kind
    meaning: str
    unit: str = ""
    nullable: bool = False
    low: float | None = None
    high: float | None = None
    rows: tuple[Field, ...] = ()
    fractional: bool = False
    """Of whole numbers: a payload may say a fraction; it is rounded, halves away from zero."""

    def arrow_type(self) -> pa.DataType:
        """The Arrow type; lists call their item ``item``, as the broker's stream does."""
        if self.kind == "rows":
            return pa.list_(pa.field("item", pa.struct([f.arrow_field() for f in self.rows]), nullable=False))
        return _ARROW[self.kind]

    def arrow_field(self) -> pa.Field:
        """The Arrow field, nullability included: Spark's Python sources demand an exact match."""
        return pa.field(self.name, self.arrow_type(), nullable=self.nullable)

    def spark_type(self) -> DataType:
        """Spark's type."""
        from pyspark.sql import types

        if self.kind == "rows":
            return types.ArrayType(_spark_struct(self.rows), containsNull=False)
        made: DataType = getattr(types, _SPARK[self.kind])()
        return made

    def json_schema(self) -> dict[str, Any]:
        """The JSON Schema of one value."""
        schema: dict[str, Any] = dict(_JSON["float64" if self.fractional else self.kind])
        bounds = ("minLength", "maxLength") if self.kind == "string" else ("minimum", "maximum")
        if self.kind != "time":
            limits = zip(bounds, (self.low, self.high), strict=True)
            schema |= {key: limit for key, limit in limits if limit is not None}
        if self.nullable:
            schema["type"] = [schema["type"], "null"]
        unit = f" [{self.unit}]" if self.unit else ""
        return schema | {"description": self.meaning + unit}


def _spark_struct(fields: Sequence[Field]) -> StructType:
    from pyspark.sql.types import StructField, StructType

    return StructType([StructField(f.name, f.spark_type(), f.nullable) for f in fields])


@dataclass(frozen=True, slots=True)
class Record:
    """A named, versioned list of fields."""

    name: str
    version: int
    fields: tuple[Field, ...]
    metadata: Mapping[str, str] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def __getitem__(self, name: str) -> Field:
        for each in self.fields:
            if each.name == name:
                return each
        raise KeyError(f"{self.name} has no field {name!r}; it has {', '.join(self.names)}")

    @property
    def names(self) -> list[str]:
        """Column names, in order."""
        return [f.name for f in self.fields]

    def arrow_schema(self) -> pa.Schema:
        """The Arrow schema."""
        return pa.schema([f.arrow_field() for f in self.fields], metadata=dict(self.metadata) or None)

    def spark_schema(self) -> StructType:
        """Spark's schema; imports PySpark."""
        return _spark_struct(self.fields)

    def json_schema(self) -> dict[str, Any]:
        """The JSON Schema (draft 2020-12) of one record as an object; unknown members are allowed."""
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": f"{self.name} v{self.version}",
            "type": "object",
            "properties": {f.name: f.json_schema() for f in self.fields},
            "required": [f.name for f in self.fields if not f.nullable],
        }
