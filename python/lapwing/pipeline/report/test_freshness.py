"""Is a place fresh exactly while enough of its samples count? Against counting, sample by sample."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np

from lapwing.pipeline.report.freshness_facts import Freshness, FreshnessFacts, fresh_over_time
from lapwing.pipeline.report.freshness_picture import draw_freshness

SECOND = 1_000_000


def test_freshness_is_what_counting_says() -> None:
    for seed in range(20):
        chance = random.Random(seed)
        samples = [(chance.randrange(4), chance.randrange(60 * SECOND)) for _ in range(chance.randrange(1, 120))]
        wanted, fresh_s = chance.randrange(1, 5), chance.choice([1, 5, 30])
        tiles, at = (np.array(column, dtype=np.int64) for column in zip(*samples, strict=True))
        seconds, found = fresh_over_time(tiles, at, fresh_s=fresh_s, samples_wanted=wanted)
        first = int(at.min())
        for second, count in zip(seconds.tolist(), found.tolist(), strict=True):
            now = first + second * SECOND
            counts = [
                sum(t == tile and now - fresh_s * SECOND < when <= now for t, when in samples) for tile in range(4)
            ]
            assert count == sum(each >= wanted for each in counts), (seed, second)


def test_nothing_is_fresh_where_nothing_was_measured() -> None:
    seconds, found = fresh_over_time(
        np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), fresh_s=1, samples_wanted=1
    )
    assert len(seconds) == len(found) == 0


def test_the_picture_is_drawn_with_and_without_facts(tmp_path: Path) -> None:
    seconds = np.linspace(0, 60, 61)
    runs = (
        Freshness("without commands", seconds, seconds / 200, 1200, {}),
        Freshness("with commands", seconds, seconds / 100, 1200, {"done": 30, "refused": 4, "published": 1}),
    )
    facts = FreshnessFacts(runs, 120, 30, 3)
    for name, each in (("some.png", facts), ("none.png", None)):
        assert draw_freshness(each, tmp_path / name).stat().st_size > 10_000
