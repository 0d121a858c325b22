"""Many histograms at once: a matrix with one row per key and one column per value; nearest rank on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Histograms:
    """Counts per key (rows) and value (columns); column ``j`` counts the value ``low + j``."""

    low: int
    counts: NDArray[np.int64]

    @property
    def totals(self) -> NDArray[np.int64]:
        """Counted values per key."""
        totals: NDArray[np.int64] = self.counts.sum(axis=1)
        return totals

    def percentile(self, share: float) -> NDArray[np.float64]:
        """Nearest rank per key: the lowest value with at least ``share`` of the counts at or below it; NaN
        for none.
        """
        totals = self.totals
        rank = np.maximum(np.ceil(totals * share - 1e-9), 1)
        column = (self.counts.cumsum(axis=1) >= rank[:, None]).argmax(axis=1)
        return np.where(totals > 0, column + float(self.low), np.nan)

    def share_from(self, value: int) -> NDArray[np.float64]:
        """Share of the counts at ``value`` or above, per key; NaN for none."""
        above = self.counts[:, max(0, value - self.low) :].sum(axis=1)
        totals = self.totals
        return np.where(totals > 0, above / np.maximum(totals, 1), np.nan)


def gather(lists: pa.ChunkedArray, value: str, key: NDArray[np.int64], keys: int) -> Histograms:
    """Adds up the histograms of a table's rows, by key.

    Args:
        lists: Per row a list of structs of ``value`` and ``count``.
        value: Name of the struct's first member.
        key: Per row its key, 0..``keys``-1.
        keys: How many keys.
    """
    whole = lists.combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # An empty chunked array stays chunked.
        return Histograms(0, np.zeros((keys, 1), dtype=np.int64))
    bins = whole.flatten()
    if not len(bins):
        return Histograms(0, np.zeros((keys, 1), dtype=np.int64))
    lengths = whole.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    values = bins.field(value).to_numpy(zero_copy_only=False).astype(np.int64)
    counts = bins.field("count").to_numpy(zero_copy_only=False)
    low, width = int(values.min()), int(values.max() - values.min()) + 1
    place = np.repeat(key, lengths) * width + (values - low)
    summed = np.bincount(place, weights=counts, minlength=keys * width)
    return Histograms(low, summed.astype(np.int64).reshape(keys, width))
