"""Figures and their intervals: the figure is exact, the interval covers what another day would have shown."""

from __future__ import annotations

import numpy as np
import pytest

from lapwing.lab.dispatch.intervals import Blocks, wilson


def _normal_blocks(seed: int, count: int = 60, per_block: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Messages whose latency has a part that its whole block shares."""
    chance = np.random.default_rng(seed)
    block = np.repeat(np.arange(count), per_block)
    return block, 100 + chance.normal(0, 10, count)[block] + chance.normal(0, 1, len(block))


def test_mean_and_quantiles_are_those_of_all_messages() -> None:
    block, latency = _normal_blocks(1)
    mean, median, p99 = Blocks(60).latencies(block, latency, (0.5, 0.99))
    assert mean.value == pytest.approx(latency.mean())
    assert median.value == pytest.approx(np.median(latency), abs=0.05)
    assert p99.value == pytest.approx(np.percentile(latency, 99), abs=0.05)


def test_the_interval_counts_blocks_and_not_messages() -> None:
    """A block's messages are late together: 12,000 messages are 60 observations."""
    block, latency = _normal_blocks(2)
    (mean,) = Blocks(60).latencies(block, latency, ())
    by_messages = 2 * 1.96 * latency.std() / np.sqrt(len(latency))
    assert mean.high - mean.low > 5 * by_messages


def test_nineteen_of_twenty_intervals_hold_the_truth() -> None:
    held = 0
    for seed in range(60):
        (mean,) = Blocks(60).latencies(*_normal_blocks(seed), ())
        held += mean.low <= 100 <= mean.high
    assert held >= 53


def test_a_ratio_in_the_same_blocks_is_narrower_than_its_parts() -> None:
    block, latency = _normal_blocks(3)
    blocks = Blocks(60)
    (slow,), (fast,) = blocks.latencies(block, latency, ()), blocks.latencies(block, latency * 0.5, ())
    ratio = fast.over(slow)
    assert ratio.value == pytest.approx(0.5)
    assert ratio.high - ratio.low < 1e-9


def test_a_miss_that_never_came_is_not_said_to_be_impossible() -> None:
    block = np.repeat(np.arange(10), 100)
    share = Blocks(10).shares(block, np.zeros(1000, bool), np.ones(1000, bool))
    assert (share.value, share.low) == (0.0, 0.0)
    assert share.high == pytest.approx(0.0038, abs=2e-4)


def test_misses_in_one_block_make_the_interval_wide() -> None:
    block = np.repeat(np.arange(10), 100)
    share = Blocks(10).shares(block, block == 3, np.ones(1000, bool))
    assert share.value == pytest.approx(0.1)
    assert share.high > 0.25
    assert share.high > wilson(100, 1000)[1]
