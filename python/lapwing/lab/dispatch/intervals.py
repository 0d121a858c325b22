"""Figures with their intervals: 95 %, from blocks of time that are drawn again.

Messages that follow each other share their fate (one slow member delays a hundred), so that messages are not drawn one
by one but in blocks of ``BLOCK_S`` seconds of one seed. Two policies that ran the same traces are drawn in the same
blocks: what is hard about a block is then no difference between them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BLOCK_S = 5.0
DRAWS = 400
_LEVEL = (2.5, 97.5)
_WILSON_Z = 1.96
_SEED = 5

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Figure:
    """A value, and what it was in each draw.

    Attributes:
        low, high: Ends of the interval.
        draws: One value per draw; empty: it has none.
    """

    value: float
    low: float
    high: float
    draws: Floats

    def over(self, other: Figure) -> Figure:
        """The ratio to a figure that was drawn in the same blocks."""
        with np.errstate(divide="ignore", invalid="ignore"):
            draws = np.where(other.draws > 0, self.draws / other.draws, np.nan)
        value = self.value / other.value if other.value > 0 else math.nan
        return _figure(value, draws[np.isfinite(draws)])


def _figure(value: float, draws: Floats) -> Figure:
    low, high = np.percentile(draws, _LEVEL) if len(draws) else (math.nan, math.nan)
    return Figure(value, float(low), float(high), draws)


class Blocks:
    """How often each block counts in each draw.

    Args:
        count: Blocks, over all seeds.
    """

    def __init__(self, count: int) -> None:
        chance = np.random.default_rng(_SEED)
        self.weights = chance.multinomial(count, np.full(count, 1 / count), DRAWS).astype(float)

    def shares(self, block: NDArray[np.int64], is_hit: NDArray[np.bool_], among: NDArray[np.bool_]) -> Figure:
        """The share of hits ``among`` some messages.

        The interval is the wider of two: of the blocks, and Wilson's, which says something of rare events too: none in
        a thousand is no zero.
        """
        size = self.weights.shape[1]
        hits = np.bincount(block[among & is_hit], minlength=size)
        all_ = np.bincount(block[among], minlength=size)
        draws = (self.weights @ hits) / np.maximum(1.0, self.weights @ all_)
        count, total = int(hits.sum()), int(all_.sum())
        figure = _figure(count / total if total else 0.0, draws)
        low, high = wilson(count, total)
        return Figure(figure.value, min(figure.low, low), max(figure.high, high), draws)

    def latencies(self, block: NDArray[np.int64], latency: Floats, quantiles: tuple[float, ...]) -> list[Figure]:
        """The mean, then each quantile."""
        order = np.argsort(latency, kind="stable")
        ordered, own = latency[order], block[order]
        size = self.weights.shape[1]
        sums, counts = np.bincount(block, latency, minlength=size), np.bincount(block, minlength=size)
        means = (self.weights @ sums) / np.maximum(1.0, self.weights @ counts)
        drawn = np.array([_quantiles(ordered, weights[own], quantiles) for weights in self.weights])
        values = _quantiles(ordered, np.ones(len(ordered)), quantiles)
        own_figures = [_figure(value, drawn[:, index]) for index, value in enumerate(values)]
        return [_figure(float(latency.mean()), means), *own_figures]


def _quantiles(ordered: Floats, weights: Floats, quantiles: tuple[float, ...]) -> list[float]:
    """Of ascending values that count as often as their weights say."""
    below = np.cumsum(weights)
    at = np.searchsorted(below, np.array(quantiles) * below[-1])
    return [float(ordered[min(index, len(ordered) - 1)]) for index in at]


def wilson(hits: int, total: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share."""
    if total == 0:
        return 0.0, 1.0
    share, square = hits / total, _WILSON_Z**2
    middle = (share + square / (2 * total)) / (1 + square / total)
    half = _WILSON_Z * math.sqrt(share * (1 - share) / total + square / (4 * total**2)) / (1 + square / total)
    return max(0.0, middle - half), min(1.0, middle + half)
