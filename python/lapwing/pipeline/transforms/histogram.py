"""Histograms as sorted lists of (bin, count): mergeable, in any order, with the same result each time.

Percentiles are nearest rank: the smallest bin with at least ``p`` of the count at or below it. Ranks are reckoned in
whole numbers: in floating point 0.1 x 30 is more than 3.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lapwing.pipeline.transforms.groups import Groups, Ints

BUCKET_WIDTH = 1.02
"""A logarithmic bucket's upper edge over its lower one; its middle is within 1 % of everything in it."""


class Histograms:
    """One histogram per group.

    Args:
        groups: Of rows with one bin each, each bin at most once in a group, in ascending order; rows without a bin
            count 0 and come last.
        bins: The bin of each row, in the groups' order.
        counts: How many lie in it.
    """

    def __init__(self, groups: Groups, bins: Ints, counts: Ints) -> None:
        self._bins, self._counts = bins, counts
        self._starts = groups.starts
        self.totals = groups.sum(counts)
        self._running = np.cumsum(counts)
        self._before = self._running[groups.starts] - counts[groups.starts] if len(bins) else self.totals

    def percentile(self, per_mille: int) -> pa.Array:
        """The bin at ``per_mille`` thousandths; null for an empty histogram."""
        empty = self.totals == 0
        rank = (self.totals * per_mille + 999) // 1000
        at = np.searchsorted(self._running, self._before + np.maximum(rank, 1))
        found = self._bins[np.minimum(at, len(self._bins) - 1)] if len(self._bins) else self._bins
        return pa.array(found, pa.int32(), mask=empty)

    def lists(self, bin_name: str) -> pa.Array:
        """As a column of lists of structs ``bin_name, count``."""
        there = self._counts > 0
        item = pa.struct([pa.field(bin_name, pa.int32(), False), pa.field("count", pa.int64(), False)])
        bars = pa.StructArray.from_arrays(
            [pa.array(self._bins[there], pa.int32()), pa.array(self._counts[there])], fields=list(item)
        )
        ends = np.concatenate([[0], np.cumsum(there)])
        offsets = ends[np.append(self._starts, len(there))]
        kind = pa.list_(pa.field("item", item, nullable=False))
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), bars, type=kind)


def bars_of(lists: pa.ChunkedArray, bin_name: str) -> tuple[pa.Array, Any, Any]:
    """Histograms taken apart: for each bar the row that it belongs to, its bin, its count."""
    column = lists.combine_chunks() if isinstance(lists, pa.ChunkedArray) else lists
    bars = column.flatten()
    lengths = column.value_lengths().to_numpy()
    parents = pa.array(np.repeat(np.arange(len(column)), lengths))
    return parents, bars.field(bin_name), bars.field("count")


def bucket(values: Ints) -> Ints:
    """The logarithmic bucket of whole numbers; 0 for 0, mirrored below it."""
    magnitude = np.abs(values)
    raised = 1 + np.floor(np.log(np.maximum(magnitude, 1)) / math.log(BUCKET_WIDTH))
    return np.where(magnitude == 0, 0, np.sign(values) * raised).astype(np.int64)


def bucket_middle(buckets: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """The values that stand for buckets, within 1 % of all that lies in them."""
    middle = np.power(BUCKET_WIDTH, np.abs(buckets) - 0.5)
    return np.where(buckets == 0, 0.0, np.sign(buckets) * middle)
