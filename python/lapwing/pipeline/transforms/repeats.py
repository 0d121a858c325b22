"""What each reading is to those before it: new, repeated, late, or revealing a gap.

A message's position is (partition, offset); the stream's key keeps a device on one partition. Serials start at 0 on
each boot and rise by one. Going through a device's readings of one boot in order of position, with ``top`` the
highest serial so far (-1 at first):

    serial > top             new; ``gap`` = serial - top - 1 serials were skipped, and count here
    below, not yet seen      new and ``late``: fills a gap that was counted (recovered), out of order (reordered)
    already seen             ``repeated``

So lost = gap - recovered, over any range, whatever the cut into batches: what a row is depends on the rows before it
and on nothing else. What came before the batch is known from the table ``seen``: one bit per reading.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lapwing.contracts.tables import SEEN
from lapwing.pipeline.transforms.groups import Groups, Ints, ints, made

BLOCK_BITS = 6
"""A row of ``seen`` has the bits of 2**6 serials."""

_SEEN_SCHEMA = pa.schema(list(SEEN.arrow_schema()))
_Bools = npt.NDArray[np.bool_]


def classify(valid: pa.Table, seen: pa.Table) -> pa.Table:
    """Says what each row is to those before it.

    Args:
        valid: Readings that keep the contract, all rows of the batch of each device that is there: ``device``,
            ``boot``, ``serial``, ``partition``, ``offset``, and others.
        seen: Rows of ``SEEN`` as they stood before the first of these rows; other devices' rows do no harm.

    Returns:
        ``valid``, sorted by device, boot and position, with booleans ``first`` (first copy), ``repeated``, ``late``
        (a first copy after a higher serial) and the long ``gap``.
    """
    groups = Groups(valid, ["device", "boot"], then=["partition", "offset"])
    serial = groups.ordered("serial")
    known = _Known.of(groups, seen)
    before = _highest_before(groups, serial, known.top)
    ahead = serial > before
    first = ahead | _late_firsts(groups, serial, ~ahead, known)
    flags = {
        "first": first,
        "repeated": ~first,
        "late": first & ~ahead,
        "gap": np.where(ahead, serial - before - 1, 0),
    }
    ordered = valid.take(pa.array(groups.order))
    for name, values in flags.items():
        ordered = ordered.append_column(name, pa.array(values))
    return ordered


def marks(classified: pa.Table) -> pa.Table:
    """The rows of ``SEEN`` that a batch adds bits to, with those bits only."""
    first = classified.filter(classified.column("first")).select(["device", "boot", "serial"])
    serial = ints(first.column("serial"))
    bits = np.left_shift(np.uint64(1), (serial & 63).astype(np.uint64)).view(np.int64)
    blocks = pa.array(serial >> BLOCK_BITS)
    return joined_marks(
        made(
            _SEEN_SCHEMA,
            {"device": first["device"], "boot": first["boot"], "block": blocks, "mask": pa.array(bits)},
        )
    )


def joined_marks(rows: pa.Table) -> pa.Table:
    """Rows of ``SEEN``, some for the same block, as one row per block, sorted."""
    groups = Groups(rows, ["device", "boot", "block"])
    keys = {name: groups.first(name) for name in ("device", "boot", "block")}
    return made(_SEEN_SCHEMA, {**keys, "mask": groups.either(groups.ordered("mask"))})


@dataclass(frozen=True)
class _Known:
    """What ``seen`` says about some groups (device, boot)."""

    top: Ints
    """The highest serial of each group, -1 for none."""
    keys: Ints
    """Sorted: group and block of each row, as one number by `_key`."""
    masks: Ints

    @classmethod
    def of(cls, groups: Groups, seen: pa.Table) -> _Known:
        devices, boots = groups.first("device").combine_chunks(), groups.first("boot").combine_chunks()
        top = np.full(len(groups), -1, dtype=np.int64)
        group = _find_groups(devices, boots, seen)
        there = group >= 0
        group, block = group[there], ints(seen.column("block"))[there]
        mask = ints(seen.column("mask"))[there]
        np.maximum.at(top, group, (block << BLOCK_BITS) + _highest_bit(mask))
        order = np.lexsort((block, group))
        return cls(top, _key(group, block)[order], mask[order])

    def has(self, group: npt.NDArray[Any], serial: Ints) -> _Bools:
        """Whether a group's serial has been seen; a block may have several rows."""
        keys = _key(group, serial >> BLOCK_BITS)
        bit = np.left_shift(np.uint64(1), (serial & 63).astype(np.uint64)).view(np.int64)
        low, high = np.searchsorted(self.keys, keys), np.searchsorted(self.keys, keys, side="right")
        found = np.zeros(len(keys), dtype=bool)
        for step in range(int((high - low).max(initial=0))):
            at = low + step
            there = at < high
            found[there] |= (self.masks[at[there]] & bit[there]) != 0
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

    group_of = np.full(len(names) * width + 1, -1, dtype=np.int64)
    group_of[pair(devices, boots)] = np.arange(len(devices))
    group_of[-1] = -1  # where `pair` says -1
    return group_of[pair(seen.column("device"), seen.column("boot"))]


def _highest_bit(masks: Ints) -> Ints:
    left = masks.view(np.uint64).copy()
    bit = np.zeros(len(masks), dtype=np.int64)
    for shift in (32, 16, 8, 4, 2, 1):
        upper = left >> np.uint64(shift)
        big = upper > 0
        bit += np.where(big, shift, 0)
        left = np.where(big, upper, left)
    return bit


def _highest_before(groups: Groups, serial: Ints, top: Ints) -> Ints:
    """The highest serial at any earlier position of the group, or in ``top``; -1 for none."""
    if not len(serial):
        return serial
    earlier = np.empty_like(serial)
    earlier[1:] = serial[:-1]
    earlier[groups.starts] = top
    # One running maximum over all groups: each group's numbers lie above those of the group before it.
    values, ranks = np.unique(earlier, return_inverse=True)
    lifted = groups.group * len(values) + ranks
    return values[np.maximum.accumulate(lifted) - groups.group * len(values)]


def _late_firsts(groups: Groups, serial: Ints, behind: _Bools, known: _Known) -> _Bools:
    """Of the rows ``behind`` a higher serial, those whose serial neither this batch nor ``seen`` had before."""
    firsts = np.zeros(len(serial), dtype=bool)
    at = np.flatnonzero(behind)
    if not len(at):
        return firsts
    # An earlier copy may have been ahead: look at all rows of the groups concerned, first copies of each serial.
    concerned = np.flatnonzero(np.isin(groups.group, np.unique(groups.group[at])))
    order = concerned[np.lexsort((concerned, serial[concerned], groups.group[concerned]))]
    same = np.zeros(len(order), dtype=bool)
    same[1:] = (serial[order][1:] == serial[order][:-1]) & (groups.group[order][1:] == groups.group[order][:-1])
    firsts[order[~same]] = True
    firsts &= behind
    at = np.flatnonzero(firsts)
    firsts[at] = ~known.has(groups.group[at], serial[at])
    return firsts
