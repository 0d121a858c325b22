"""What a reading says, as a number: whether a serial that comes again brings the same reading.

All of a reading counts but the moment at which it was sent: a device that sends it again may stamp it anew. Numbers
are the same in every process and release, for they are remembered (`repeats`); a field that is unknown adds nothing, so
that a field more in the contract changes no number.
"""

from __future__ import annotations

import zlib

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lapwing.contracts.reading import READING
from lapwing.pipeline.transforms.groups import ints

_NOT_CONTENT = ("device", "boot", "serial", "sent_at")
_FIELDS = tuple(field for field in READING if field.name not in _NOT_CONTENT)
_Hashes = npt.NDArray[np.uint64]


def contents(readings: pa.Table) -> _Hashes:
    """Per reading 64 bits of what it says; columns that are not there are unknown."""
    total = np.zeros(readings.num_rows, dtype=np.uint64)
    for field in _FIELDS:
        if field.name in readings.column_names:
            column = readings.column(field.name).combine_chunks()
            values = _of_texts(column) if field.kind == "string" else _of_numbers(column)
            known = column.is_valid().to_numpy(zero_copy_only=False)
            total += np.where(known, _mixed(values ^ np.uint64(zlib.crc32(field.name.encode()))), np.uint64(0))
    return _mixed(total)


def prints(hashes: _Hashes) -> npt.NDArray[np.uint16]:
    """16 bits of each, never 0, which stands for what is not known: one in 65,535 is taken for another."""
    found: npt.NDArray[np.uint16] = (hashes >> np.uint64(48)).astype(np.uint16)
    found[found == 0] = 1
    return found


def _of_texts(column: pa.Array) -> _Hashes:
    """Few texts are different: each is looked at once."""
    encoded = column.dictionary_encode()
    per_text = np.array([_of_text(text) for text in encoded.dictionary.to_pylist()] or [0], dtype=np.uint64)
    made: _Hashes = per_text[ints(encoded.indices)]
    return made


def _of_text(text: str) -> int:
    raw = text.encode()
    return zlib.crc32(raw) | zlib.crc32(raw, 0x9E3779B9) << 32


def _of_numbers(column: pa.Array) -> _Hashes:
    if pa.types.is_timestamp(column.type):
        return ints(column).view(np.uint64)
    # As floats, whatever they are in this release; 0.0 is added so that -0.0 is 0.0.
    numbers = column.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False) + 0.0
    made: _Hashes = numbers.view(np.uint64)
    return made


def _mixed(values: _Hashes) -> _Hashes:
    """Each bit of a value reaches each bit of the result (the finalizer of SplitMix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
