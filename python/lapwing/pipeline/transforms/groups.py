"""Rows grouped by some columns, and what is summed over each group: numpy on sorted codes. Nulls are keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Ints = npt.NDArray[np.int64]


class Groups:
    """The rows of ``table`` in an order in which those with equal ``keys`` are neighbours, ``then`` sorted.

    Args:
        table: Any table.
        keys: Its columns that make a group.
        then: Columns of whole numbers that order the rows within a group; nulls come last.
    """

    def __init__(self, table: pa.Table, keys: Sequence[str], then: Sequence[str] = ()) -> None:
        self.table = table
        codes = [_codes(table.column(key)) for key in keys]
        inner = [ints(table.column(name), null=np.iinfo(np.int64).max) for name in then]
        self.order: npt.NDArray[np.intp] = np.lexsort([*reversed(inner), *reversed(codes)])
        changes = np.zeros(table.num_rows, dtype=bool)
        changes[:1] = True
        for code in codes:
            ordered = code[self.order]
            changes[1:] |= ordered[1:] != ordered[:-1]
        self.starts: npt.NDArray[np.intp] = np.flatnonzero(changes)
        """Where in `order` each group begins."""
        self.group: npt.NDArray[np.intp] = np.cumsum(changes) - 1
        """The group of each row, in `order`."""

    def __len__(self) -> int:
        return len(self.starts)

    def ordered(self, column: str, null: int = 0) -> Ints:
        """A column of whole numbers or times, in `order`."""
        return ints(self.table.column(column), null=null)[self.order]

    def first(self, column: str) -> pa.ChunkedArray:
        """A column's value at the first row of each group: for keys."""
        return self.table.column(column).take(pa.array(self.order[self.starts]))

    def sum(self, values: Ints) -> Ints:
        """Sums of ``values``, given in `order`."""
        return np.add.reduceat(values, self.starts) if len(values) else values

    def max(self, values: Ints) -> Ints:
        """Largest of ``values``, given in `order`."""
        return np.maximum.reduceat(values, self.starts) if len(values) else values

    def min(self, values: Ints) -> Ints:
        """Smallest of ``values``, given in `order`."""
        return np.minimum.reduceat(values, self.starts) if len(values) else values

    def either(self, values: Ints) -> Ints:
        """Bitwise or of ``values``, given in `order`."""
        return np.bitwise_or.reduceat(values, self.starts) if len(values) else values


def touched(parts: pa.Table, stored: pa.Table, keys: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Per row of ``stored`` whether a row of ``parts`` has the same ``keys``; nulls are keys."""
    both = pa.concat_tables([parts.select(keys), stored.select(keys)])
    groups = Groups(both, keys)
    of_parts = groups.order < parts.num_rows
    hit = np.zeros(both.num_rows, dtype=bool)
    hit[groups.order] = groups.max(of_parts.astype(np.int64))[groups.group] > 0
    return hit[parts.num_rows :]


def ints(column: Any, null: int = 0) -> Ints:
    """A column of whole numbers, booleans or times (microseconds) as numbers, with ``null`` for nulls."""
    whole = column.cast(pa.int64())
    if whole.null_count:
        whole = pc.fill_null(whole, null)
    made: Ints = whole.to_numpy()
    return made


def floats(column: Any) -> npt.NDArray[np.float64]:
    """A column of numbers, with NaN for nulls."""
    known = pc.fill_null(column, float("nan")) if column.null_count else column
    made: npt.NDArray[np.float64] = known.to_numpy()
    return made


def made(schema: pa.Schema, columns: dict[str, Any]) -> pa.Table:
    """A table of ``schema`` from arrays of Arrow or numpy, by name; extra columns are left out."""
    arrays = [_array(columns[field.name], field.type) for field in schema]
    return pa.table(arrays, schema=schema)


def times(micros: Ints) -> pa.Array:
    """Microseconds since the epoch as times."""
    return pa.array(micros, pa.timestamp("us", "UTC"))


def _array(values: Any, kind: pa.DataType) -> Any:
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values.cast(kind)
    return pa.array(values).cast(kind)


def _codes(column: pa.ChunkedArray) -> Ints:
    if pa.types.is_string(column.type):
        encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
        return ints(encoded.indices)
    # A null gets a number that no value has: keys are times, counts and channel numbers, all above it.
    return ints(column, null=np.iinfo(np.int64).min)
