"""Rows of a table that need not fit into memory, in parts that do.

What is more than one part is cut by a number that each row has, into files beside the table's; a part that is still too
large is cut again. Rows with the same number are always in the same part.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

PART_ROWS = 262_144
"""Of the table ``seen`` these are 40 MB, and some three times as much while they are joined."""
_FAN_BITS = 5
_CUTS_MAX = 64 // _FAN_BITS
"""Then a number has no more bits: its rows are one part, however many they are."""
_FOLDER = "_parts"
"""No reader of Delta looks into folders whose names begin so."""

Numbers = Callable[[pa.Table], npt.NDArray[np.uint64]]


def in_parts(
    rows: Iterable[pa.RecordBatch], numbers: Numbers, schema: pa.Schema, folder: Path
) -> Generator[pa.Table, None, None]:
    """``rows`` in parts of `PART_ROWS` and one batch at most, each row in one of them.

    Args:
        rows: Some at a time; none of these is kept longer than until its part is given.
        numbers: A number of 64 bits for each row; evenly spread over different ones.
        schema: Of ``rows``.
        folder: Of the table, which nobody else writes in this way meanwhile. It has to have room for ``rows`` again,
            until the last part was taken.
    """
    with _emptied(folder / _FOLDER) as place:
        yield from _cut(rows, numbers, schema, place, 0)


@contextmanager
def _emptied(place: Path) -> Iterator[Path]:
    """Who was killed has left its files there."""
    shutil.rmtree(place, ignore_errors=True)
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _cut(
    rows: Iterable[pa.RecordBatch], numbers: Numbers, schema: pa.Schema, place: Path, cuts: int
) -> Iterator[pa.Table]:
    """``cuts``: How often they were cut already."""
    held: list[pa.RecordBatch] = []
    held_rows = 0
    coming = iter(rows)
    for batch in coming:
        held.append(batch)
        held_rows += batch.num_rows
        if held_rows > PART_ROWS and cuts < _CUTS_MAX:
            break
    else:
        yield pa.Table.from_batches(held, schema)
        return
    place.mkdir(parents=True)
    with ExitStack() as stack:
        files = _Files(place, schema, stack)
        while held:
            files.add(held.pop(), numbers, cuts)
        for batch in coming:
            files.add(batch, numbers, cuts)
    for path in files.paths:
        yield from _cut(_read(path), numbers, schema, path.with_suffix(""), cuts + 1)
        path.unlink()


class _Files:
    """One file for each value of the bits by which rows are cut, where there is a row with it."""

    def __init__(self, place: Path, schema: pa.Schema, stack: ExitStack) -> None:
        self._place, self._schema, self._stack = place, schema, stack
        self._writers: dict[int, Any] = {}

    @property
    def paths(self) -> list[Path]:
        return [self._path(value) for value in self._writers]

    def add(self, batch: pa.RecordBatch, numbers: Numbers, cuts: int) -> None:
        """Writes each row of ``batch`` into its file."""
        rows = pa.Table.from_batches([batch], self._schema)
        value = (numbers(rows) >> np.uint64(cuts * _FAN_BITS)) & np.uint64((1 << _FAN_BITS) - 1)
        for each in np.unique(value).tolist():
            self._writer(each).write_table(rows.filter(pa.array(value == each)))

    def _writer(self, value: int) -> Any:
        if value not in self._writers:
            opened = pa.ipc.new_stream(self._stack.enter_context(self._path(value).open("wb")), self._schema)
            self._writers[value] = self._stack.enter_context(opened)
        return self._writers[value]

    def _path(self, value: int) -> Path:
        return self._place / f"{value}.arrow"


def _read(path: Path) -> Iterator[pa.RecordBatch]:
    with path.open("rb") as file:
        yield from pa.ipc.open_stream(file)
