"""The rows of ``SEEN``: what a job remembers of the serials of each device and boot, and how it is looked up.

One row has a block of 64 serials. Its ``block`` says what kind it is:

    block >= 0        readings: ``mask`` has a bit for each that has arrived, ``prints`` 16 bits of what each said
    block == -1       ``mask`` is the first serial that was met: those below it may have been sent before the job began,
                      or were deleted before it read them
    block <= -2       serials 64 x (-2 - block) and on: ``mask`` has a bit for each that has arrived broken

Rows of one block are joined by "or", of serials the highest counts; there may be several.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lapwing.contracts.tables import SEEN
from lapwing.pipeline.transforms.groups import Groups, Ints, ints, made

BLOCK_BITS = 6
BLOCK_SERIALS = 1 << BLOCK_BITS
BASE_BLOCK = -1
_PRINT_BYTES = 2 * BLOCK_SERIALS
_CHUNK_BLOCKS = (2**31 - 1) // _PRINT_BYTES
"""Arrow's `binary` counts its bytes in 32 bits: so many rows of prints are one array of it, and no more."""
_TOGETHER_BITS = 10
"""So many neighbouring blocks of a device `spread` leaves together: they pack better than if all devices were mixed."""

SEEN_SCHEMA = pa.schema(list(SEEN.arrow_schema()))
Bools = npt.NDArray[np.bool_]
Prints = npt.NDArray[np.uint16]


def broken_block(block: Any) -> Any:
    """The block that stands for the broken ones of ``block``, and back."""
    return -2 - block


def bit_of(serial: Ints) -> Ints:
    """The bit of a serial within its block's mask."""
    return np.left_shift(np.uint64(1), (serial & (BLOCK_SERIALS - 1)).astype(np.uint64)).view(np.int64)


def rows_of(device: Any, boot: Any, block: Any, mask: Any, prints: pa.ChunkedArray | None = None) -> pa.Table:
    """Rows of ``SEEN`` from columns."""
    said = pa.nulls(len(mask), pa.binary()) if prints is None else prints
    return made(SEEN_SCHEMA, {"device": device, "boot": boot, "block": block, "mask": mask, "prints": said})


def joined_marks(rows: pa.Table) -> pa.Table:
    """Rows of ``SEEN``, some for the same block, as one row per block, sorted."""
    groups = Groups(rows, ["device", "boot", "block"])
    mask = groups.either(groups.ordered("mask"))
    bases = ints(groups.first("block")) == BASE_BLOCK
    mask[bases] = groups.max(groups.ordered("mask"))[bases]
    prints, at = _said(rows["prints"])
    at = at[groups.order]
    ordered = prints[at[at >= 0]]
    there, starts = np.unique(groups.group[at >= 0], return_index=True)
    joined = np.bitwise_or.reduceat(ordered, starts, axis=0) if len(starts) else ordered
    known = np.zeros(len(groups), dtype=bool)
    known[there] = True
    return rows_of(groups.first("device"), groups.first("boot"), groups.first("block"), mask, packed(joined, known))


def reading_marks(readings: pa.Table) -> pa.Table:
    """The rows of ``SEEN`` that readings add: ``device``, ``boot``, ``serial`` and ``print``, each once."""
    serial = ints(readings["serial"])
    keys = readings.select(["device", "boot"]).append_column("block", pa.array(serial >> BLOCK_BITS))
    groups = Groups(keys, ["device", "boot", "block"])
    prints = np.zeros((len(groups), BLOCK_SERIALS), dtype=np.uint16)
    prints[groups.group, serial[groups.order] & (BLOCK_SERIALS - 1)] = readings["print"].to_numpy()[groups.order]
    mask = groups.either(bit_of(serial)[groups.order])
    known = np.ones(len(groups), dtype=bool)
    return rows_of(groups.first("device"), groups.first("boot"), groups.first("block"), mask, packed(prints, known))


def spread(rows: pa.Table) -> npt.NDArray[np.uint64]:
    """A number for each row of ``SEEN``, the same for all rows of one block; others are spread evenly over 64 bits."""
    encoded = rows.column("device").combine_chunks().dictionary_encode()
    names = np.array([zlib.crc32(name.encode()) for name in encoded.dictionary.to_pylist()], dtype=np.uint64)
    mixed = names[ints(encoded.indices)]
    for column in (ints(rows.column("boot")), ints(rows.column("block")) >> _TOGETHER_BITS):
        mixed = _mixed(mixed ^ column.view(np.uint64))
    return mixed


def _mixed(numbers: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Splitmix64's last steps: neighbours are neighbours no more."""
    found = numbers + np.uint64(0x9E3779B97F4A7C15)
    found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return found ^ (found >> np.uint64(31))


def packed(prints: Prints, there: Bools) -> pa.ChunkedArray:
    """One row per block as bytes; null where it is not ``there``: ``prints`` has the others."""
    rows = np.concatenate([[0], np.cumsum(there)])
    cuts = range(0, max(len(there), 1), _CHUNK_BLOCKS)
    chunks = []
    for begin in cuts:
        end = min(begin + _CHUNK_BLOCKS, len(there))
        chunks.append(_packed_chunk(prints[rows[begin] : rows[end]], there[begin:end]))
    return pa.chunked_array(chunks, pa.binary())


def _packed_chunk(prints: Prints, there: Bools) -> pa.Array:
    data = np.ascontiguousarray(prints, dtype="<u2").tobytes()
    ends = np.concatenate([[0], np.cumsum(np.where(there, _PRINT_BYTES, 0))]).astype(np.int32)
    valid = pa.py_buffer(np.packbits(there, bitorder="little").tobytes())
    return pa.Array.from_buffers(pa.binary(), len(there), [valid, pa.py_buffer(ends.tobytes()), pa.py_buffer(data)])


def _said(column: pa.ChunkedArray) -> tuple[Prints, Ints]:
    """The prints of the rows that are not null; and per row where its own are there, -1 for none.

    Arrow would make one array of all chunks to take rows of them, for which `binary` may be too small.
    """
    valid = column.is_valid().to_numpy()
    found = [np.empty((0, BLOCK_SERIALS), dtype="<u2")]
    for chunk in column.drop_null().cast(pa.large_binary()).chunks:
        if len(chunk):
            ends = np.frombuffer(chunk.buffers()[1], np.int64)[chunk.offset : chunk.offset + len(chunk) + 1]
            data = np.frombuffer(chunk.buffers()[2], "<u2", count=(ends[-1] - ends[0]) // 2, offset=ends[0])
            found.append(data.reshape(-1, BLOCK_SERIALS))
    return np.concatenate(found), np.where(valid, np.cumsum(valid) - 1, -1)


@dataclass(frozen=True)
class Known:
    """What ``SEEN`` says about some groups (device, boot)."""

    top: Ints
    """The highest serial of each group that has arrived, whole or broken; -1 for none."""
    base: Ints
    """The first serial that was met, where those below it are not counted as missing; else 0."""
    began_here: Bools
    """Whether an earlier boot of the device is known: then this one began while somebody listened."""
    readings: _Blocks
    broken: _Blocks

    @classmethod
    def of(cls, groups: Groups, seen: pa.Table) -> Known:
        """Looks up the ``groups``, whose keys are device and boot; rows of other devices do no harm."""
        devices, boots = groups.first("device").combine_chunks(), groups.first("boot").combine_chunks()
        group = _find_groups(devices, boots, seen)
        block, mask = ints(seen.column("block")), ints(seen.column("mask"))
        top = np.full(len(groups), -1, dtype=np.int64)
        base = np.zeros(len(groups), dtype=np.int64)
        kinds = {"readings": (group >= 0) & (block >= 0), "broken": (group >= 0) & (block <= broken_block(0))}
        found = {}
        for name, there in kinds.items():
            blocks = block[there] if name == "readings" else broken_block(block[there])
            np.maximum.at(top, group[there], (blocks << BLOCK_BITS) + _highest_bit(mask[there]))
            said = name == "readings" and "prints" in seen.column_names
            prints = seen.column("prints").filter(pa.array(there)) if said else None
            found[name] = _Blocks.of(group[there], blocks, mask[there], prints)
        bases = (group >= 0) & (block == BASE_BLOCK)
        np.maximum.at(base, group[bases], mask[bases])
        return cls(top, base, _began_here(devices, boots, seen), found["readings"], found["broken"])


@dataclass(frozen=True)
class _Blocks:
    """Rows of some groups, sorted by group and block; a block may have several."""

    keys: Any
    masks: Ints
    prints: Prints
    print_at: Ints
    """Where a row's prints are in `prints`; -1: nobody knows them."""

    @classmethod
    def of(cls, group: Ints, block: Ints, mask: Ints, prints: pa.ChunkedArray | None) -> _Blocks:
        order = np.lexsort((block, group))
        said, at = _said(pa.chunked_array([pa.nulls(len(order), pa.binary())]) if prints is None else prints)
        return cls(_key(group, block)[order], mask[order], said, at[order])

    def has(self, group: npt.NDArray[Any], serial: Ints) -> Bools:
        """Whether a group's serial has been seen."""
        return self._row(group, serial) >= 0

    def print_of(self, group: npt.NDArray[Any], serial: Ints) -> Prints:
        """What the reading said that had this serial; 0 where nobody knows."""
        row = self._row(group, serial)
        found = np.zeros(len(serial), dtype=np.uint16)
        known = np.flatnonzero(row >= 0)
        known = known[self.print_at[row[known]] >= 0]
        found[known] = self.prints[self.print_at[row[known]], serial[known] & (BLOCK_SERIALS - 1)]
        return found

    def _row(self, group: npt.NDArray[Any], serial: Ints) -> Ints:
        keys, bit = _key(group, serial >> BLOCK_BITS), bit_of(serial)
        low, high = np.searchsorted(self.keys, keys), np.searchsorted(self.keys, keys, side="right")
        found = np.full(len(keys), -1, dtype=np.int64)
        for step in range(int((high - low).max(initial=0))):
            at = np.minimum(low + step, max(len(self.keys) - 1, 0))
            hit = (low + step < high) & ((self.masks[at] & bit) != 0)
            found[hit] = at[hit]
        return found


def _key(group: npt.NDArray[Any], block: Ints) -> Any:
    pairs = np.empty(len(block), dtype=[("group", np.int64), ("block", np.int64)])
    pairs["group"], pairs["block"] = group, block
    return pairs


def _find_groups(devices: pa.Array, boots: pa.Array, seen: pa.Table) -> Ints:
    """The group of each row of ``seen``; -1 for rows of others."""
    names = devices.unique()
    boot_values = boots.unique()
    width = max(1, len(boot_values))

    def pair(device: Any, boot: Any) -> Ints:
        at_device = ints(pc.index_in(device, value_set=names), null=-1)
        at_boot = ints(pc.index_in(boot, value_set=boot_values), null=-1)
        return np.where((at_device < 0) | (at_boot < 0), -1, at_device * width + at_boot)

    # Looked up, not laid out as a table of names and boots: that has the square of a fleet whose boots are times.
    known = pa.array(pair(devices, boots))
    wanted = pa.array(pair(seen.column("device"), seen.column("boot")))
    return ints(pc.index_in(wanted, value_set=known), null=-1)


def _began_here(devices: pa.Array, boots: pa.Array, seen: pa.Table) -> Bools:
    """Per group whether its device has a lower boot, in ``seen`` or among the groups."""
    names = devices.unique()
    lowest = np.full(max(1, len(names)), np.iinfo(np.int64).max)
    for device, boot in ((devices, boots), (seen.column("device"), seen.column("boot"))):
        at, numbers = ints(pc.index_in(device, value_set=names), null=-1), ints(boot)
        there = (at >= 0) & (numbers >= 0)
        np.minimum.at(lowest, at[there], numbers[there])
    return lowest[ints(pc.index_in(devices, value_set=names))] < ints(boots)


def _highest_bit(masks: Ints) -> Ints:
    left = masks.view(np.uint64).copy()
    bit = np.zeros(len(masks), dtype=np.int64)
    for shift in (32, 16, 8, 4, 2, 1):
        upper = left >> np.uint64(shift)
        big = upper > 0
        bit += np.where(big, shift, 0)
        left = np.where(big, upper, left)
    return bit
