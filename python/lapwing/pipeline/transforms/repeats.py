"""What each reading is to those before it: new, repeated, late, revealing a gap, or with a serial of another.

A message's position is (partition, offset); the stream's key keeps a device on one partition. Serials start at 0 on
each boot and rise by one. Going through what came of a device and boot in order of position, with ``top`` the highest
serial so far (-1 at first), and broken messages among them whose serial could be read:

    serial > top              has arrived; ``gap`` = serial - top - 1 serials were skipped, and count here
    below, nothing had it     has arrived, ``late``: fills a gap that was counted (``recovered``)
    a reading had it, same    ``repeated``
    a reading had it, other   ``reused``: the boot did not rise, or somebody else uses the device's serials
    far above top             ``jumped``: no device skips ``JUMP_MAX`` readings; it says nothing about what is missing

So missing = gap - recovered, over any range, whatever the cut into batches: what a row is depends on the rows before it
and on nothing else. What came before the batch is known from the table ``seen`` (`seen_rows`). Where the job cannot
have read a boot's beginning, the first gap is ``before_start``, and so is what fills it later, less; and so it is where
retention has deleted messages between the batch before and this one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lapwing.pipeline.transforms.content import contents, prints
from lapwing.pipeline.transforms.groups import Groups, Ints, ints
from lapwing.pipeline.transforms.seen_rows import (
    BASE_BLOCK,
    BLOCK_BITS,
    Bools,
    Known,
    bit_of,
    broken_block,
    joined_marks,
    reading_marks,
    rows_of,
)

__all__ = ["FLAGS", "JUMP_MAX", "classify", "joined_marks", "marks"]

JUMP_MAX = 1 << 40
"""A thousand readings a second make so many in 34 years. Sums of smaller gaps stay within 64 bits."""

FLAGS: Mapping[str, pa.DataType] = {
    "first": pa.bool_(),
    "repeated": pa.bool_(),
    "late": pa.bool_(),
    "reused": pa.bool_(),
    "jumped": pa.bool_(),
    "gap": pa.int64(),
    "recovered": pa.int64(),
    "before_start": pa.int64(),
    "print": pa.uint16(),
}
"""The columns that `classify` adds."""


Prints = Callable[[pa.Array], pa.Table]
"""The rows of ``SEEN`` of some devices, with ``prints``."""


def classify(
    arrived: pa.Table,
    seen: pa.Table,
    starts: Mapping[int, int] | None = None,
    prints_of: Prints | None = None,
    holes: Collection[int] = (),
) -> pa.Table:
    """Says what each row is to those before it.

    Args:
        arrived: All rows of the batch of each device that is there: ``device``, ``boot``, ``serial``, ``partition``,
            ``offset``, the reading's other columns, and ``reason``, which is set for what broke the contract.
        seen: Rows of ``SEEN`` as they stood before the first of these rows; other devices' rows do no harm.
            Without the column ``prints`` these are asked for where they are needed.
        starts: Per partition the offset at which the job began; what is not named was read from its first message.
        holes: The partitions of which messages were deleted before the first ones of this batch.
        prints_of: For ``seen`` without prints: they are most of it, and few devices repeat themselves.

    Returns:
        ``arrived``, sorted by device, boot and position, with the columns of ``FLAGS``: ``first`` is the first
        copy of a reading; of what broke the contract neither it nor ``repeated`` is true.
    """
    groups = Groups(arrived, ["device", "boot"], then=["partition", "offset"])
    serial = groups.ordered("serial")
    broken = _broken(arrived)[groups.order]
    content = contents(arrived)[groups.order]
    known = Known.of(groups, seen)
    jumped = _jumped(groups, serial, known.top)
    before = _highest_before(groups, np.where(jumped, -1, serial), known.top)
    ahead = (serial > before) & ~jumped
    past = _Past.of(groups, serial, content, broken, _Behind(~ahead & ~jumped, jumped), known, prints_of)
    gap = np.where(ahead, serial - 1 - before, 0)
    begins = ahead & (before < 0) & _unread(groups, known, starts or {})
    begins |= (gap > 0) & (before == known.top[groups.group]) & np.isin(groups.ordered("partition"), list(holes))
    filled = ~ahead & ~jumped & ~past.had
    above_base = serial >= known.base[groups.group]
    flags: dict[str, Any] = {
        "first": ~broken & ~jumped & ~past.had_reading,
        "repeated": ~broken & past.had_reading & past.same,
        "late": ~broken & ~jumped & ~past.had_reading & ~ahead,
        "reused": ~broken & past.had_reading & ~past.same,
        "jumped": jumped,
        "gap": np.where(begins, 0, gap),
        "recovered": (filled & above_base).astype(np.int64),
        "before_start": np.where(begins, gap, 0) - (filled & ~above_base),
        "print": prints(content),
    }
    # A base that this batch has set holds for its own rows, too.
    flags = _with_new_bases(groups, serial, begins, filled, flags)
    ordered = arrived.take(pa.array(groups.order))
    for name, kind in FLAGS.items():
        ordered = ordered.append_column(name, pa.array(flags[name], kind))
    return ordered


def marks(classified: pa.Table) -> pa.Table:
    """The rows of ``SEEN`` that a batch adds bits to, with those bits only."""
    broken = pa.array(_broken(classified))
    first = classified.filter(classified["first"])
    refused = classified.filter(pc.and_(broken, pc.invert(classified["jumped"])))
    begun = classified.filter(pc.greater(classified["before_start"], 0))
    of_refused = ints(refused["serial"])
    parts = [
        reading_marks(first),
        rows_of(refused["device"], refused["boot"], broken_block(of_refused >> BLOCK_BITS), bit_of(of_refused)),
        rows_of(begun["device"], begun["boot"], np.full(begun.num_rows, BASE_BLOCK), ints(begun["serial"])),
    ]
    return joined_marks(pa.concat_tables(parts))


@dataclass(frozen=True)
class _Behind:
    behind: Bools
    """Rows below a serial that came before."""
    jumped: Bools


@dataclass(frozen=True)
class _Past:
    """Per row what had its serial before it, in the batch or in ``seen``."""

    had: Bools
    """Anything: a reading, or a broken message."""
    had_reading: Bools
    same: Bools
    """That reading said the same, or nobody knows what it said."""

    @classmethod
    def of(
        cls,
        groups: Groups,
        serial: Ints,
        content: Any,
        broken: Bools,
        where: _Behind,
        known: Known,
        prints_of: Prints | None,
    ) -> _Past:
        """Looks at the groups that have rows ``behind`` a higher serial: in all others each row has one of its own."""
        made = cls(*(np.zeros(len(serial), dtype=bool) for _ in range(3)))
        concerned = np.flatnonzero(np.isin(groups.group, np.unique(groups.group[where.behind])) & ~where.jumped)
        if not len(concerned):
            return made
        order = concerned[np.lexsort((concerned, serial[concerned], groups.group[concerned]))]
        new = np.ones(len(order), dtype=bool)
        new[1:] = (serial[order][1:] != serial[order][:-1]) | (groups.group[order][1:] != groups.group[order][:-1])
        starts, run, place = np.flatnonzero(new), np.cumsum(new) - 1, np.arange(len(order))
        group, number = groups.group[order[starts]], serial[order[starts]]
        known_reading, known_broken = known.readings.has(group, number), known.broken.has(group, number)
        known_print = _known_prints(groups, group, number, known_reading, known, prints_of)
        first = np.minimum.reduceat(np.where(broken[order], len(order), place), starts)
        here = (first[run] < place) & ~known_reading[run]
        made.had[order] = known_reading[run] | known_broken[run] | ~new
        made.had_reading[order] = known_reading[run] | here
        earlier = content[order[np.minimum(first, len(order) - 1)]][run]
        as_known = (known_print[run] == 0) | (known_print[run] == prints(content[order]))
        made.same[order] = np.where(here, earlier == content[order], as_known)
        return made


def _known_prints(
    groups: Groups, group: Any, number: Ints, known_reading: Bools, known: Known, prints_of: Prints | None
) -> Any:
    """What the readings said that had these serials; 0 where there was none, or nobody knows."""
    if prints_of is not None and known_reading.any():
        devices = groups.first("device").take(pa.array(np.unique(group[known_reading]))).combine_chunks().unique()
        known = Known.of(groups, prints_of(devices))
    return known.readings.print_of(group, number)


def _with_new_bases(
    groups: Groups, serial: Ints, begins: Bools, filled: Bools, flags: dict[str, Any]
) -> dict[str, Any]:
    """What fills a gap below a base that was set in this batch is taken from ``before_start``, not recovered."""
    if not begins.any():
        return flags
    base = np.zeros(len(groups), dtype=np.int64)
    base[groups.group[begins]] = serial[begins]
    below = filled & (serial < base[groups.group])
    flags["recovered"] = np.where(below, 0, flags["recovered"])
    flags["before_start"] = np.where(below, -1, flags["before_start"])
    return flags


def _broken(rows: pa.Table) -> Bools:
    if "reason" not in rows.column_names:
        return np.zeros(rows.num_rows, dtype=bool)
    found: Bools = rows["reason"].is_valid().to_numpy()
    return found


def _unread(groups: Groups, known: Known, starts: Mapping[int, int]) -> Bools:
    """Per row whether the job may have come later than the beginning of its boot."""
    late = [partition for partition, offset in starts.items() if offset > 0]
    found: Bools = np.isin(groups.ordered("partition"), late) & ~known.began_here[groups.group]
    return found


def _jumped(groups: Groups, serial: Ints, top: Ints) -> Bools:
    """Rows so far above what came before that it is no count; they leave what comes after them alone."""
    jumped = np.zeros(len(serial), dtype=bool)
    before = _highest_before(groups, serial, top)
    far = (serial > before) & (serial - 1 - before > JUMP_MAX)
    ends = np.append(groups.starts[1:], len(serial))
    # What came before the second of two jumps is not the first one. Row by row, and only where there is a jump: a
    # device that counts in microseconds since 1970 jumps with all it says.
    for group in np.unique(groups.group[far]).tolist():
        start, reached = int(groups.starts[group]), int(top[group])
        for at, number in enumerate(serial[start : ends[group]].tolist(), start):
            if number - 1 - reached > JUMP_MAX:
                jumped[at] = True
            else:
                reached = max(reached, number)
    return jumped


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
