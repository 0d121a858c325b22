"""Are places and whereabouts the same however a batch is cut and its parts are joined?"""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any

import pyarrow as pa

from lapwing.contracts.command_tables import RECENT_MAX
from lapwing.pipeline.transforms.places import joined_whereabouts, places, samples, samples_of_places, whereabouts
from lapwing.pipeline.transforms.test_aggregates import NOON, classified, told


def row(second: int, **changes: Any) -> dict[str, Any]:
    at = NOON + timedelta(seconds=second)
    return {"measured_at": at, "ingress_at": at + timedelta(milliseconds=5), **changes}


def test_the_latest_samples_of_each_place_are_kept() -> None:
    rows = [row(n) for n in range(RECENT_MAX + 4)] + [row(3, network=None, channel=None), row(5, lat=None, lon=None)]
    random.Random(1).shuffle(rows)
    kept = told(places(samples(classified(rows))))
    whole = next(each for each in kept if each["network"] == "5G")
    assert len(kept) == 2
    assert [each["at"] for each in whole["recent"]] == [NOON + timedelta(seconds=n) for n in range(4, RECENT_MAX + 4)]
    assert whole["last_seen"] == NOON + timedelta(seconds=RECENT_MAX + 3)


def test_parts_can_be_joined_in_any_order_and_taken_apart_again() -> None:
    rows = [row(n, lat=51.9 + n % 3 / 100, channel=n % 2) for n in range(100)]
    whole = places(samples(classified(rows)))
    parts = [samples(classified(rows[n : n + 7])) for n in range(0, 100, 7)]
    joined = places(parts[0])
    for part in reversed(parts[1:]):
        joined = places(pa.concat_tables([part, samples_of_places(joined)]))
    assert told(joined) == told(whole)


def test_a_clock_that_runs_ahead_does_not_make_a_place_fresh() -> None:
    (kept,) = places(samples(classified([{"measured_at": NOON + timedelta(days=9)}]))).to_pylist()
    assert kept["last_seen"] == NOON + timedelta(milliseconds=2)


def test_nothing_makes_nothing() -> None:
    assert places(samples(classified([]))).num_rows == 0
    assert samples_of_places(places(samples(classified([])))).num_rows == 0
    assert whereabouts(classified([])).num_rows == 0


def test_a_device_is_where_its_latest_reading_was_measured() -> None:
    rows = [row(n, device=f"d{n % 2}", lat=51.9 + n / 100) for n in range(10)]
    rows += [row(20, device="d1", lat=None, lon=None), row(30, device="d1", first=False)]
    whole = whereabouts(classified(rows))
    assert [each["device"] for each in whole.to_pylist()] == ["d0", "d1"]
    assert [each["seen_at"] for each in whole.to_pylist()] == [NOON + timedelta(seconds=8), NOON + timedelta(seconds=9)]
    parts = [whereabouts(classified(rows[n : n + 3])) for n in range(0, 12, 3)]
    assert joined_whereabouts(pa.concat_tables(reversed(parts))) == whole
