"""The numbers in the pictures, against plain Python over the same rows."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from lapwing.pipeline.report.buckets import BUCKET_WIDTH, bucket_us
from lapwing.pipeline.report.conftest import MakeTables, write_tables
from lapwing.pipeline.report.coverage_facts import _networks, coverage_facts
from lapwing.pipeline.report.coverage_picture import ASPECT, FEW, HEIGHT, MANY, WIDTH, Grid
from lapwing.pipeline.report.histogram import Histograms
from lapwing.pipeline.report.latency_facts import latency_facts
from lapwing.pipeline.report.loss_facts import COUNTS, loss_facts
from lapwing.pipeline.report.map_frame import CELLS_ACROSS_MAX, frame
from lapwing.pipeline.report.tables import read
from lapwing.pipeline.report.time_steps import TimeSteps
from lapwing.pipeline.report.units import duration, share


def nearest_rank(histogram: Counter[int], wanted: float) -> float:
    reached = 0
    for value in sorted(histogram):
        reached += histogram[value]
        if reached >= wanted * histogram.total():
            return value
    return math.nan


def test_tiles_of_a_map_have_the_median_of_their_rows_of_one_network(make_tables: MakeTables) -> None:
    out = make_tables(tiles=900)
    facts = coverage_facts(out, 1.1)
    assert facts is not None
    expected: dict[tuple[int, int], Counter[int]] = defaultdict(Counter)
    layer = facts.networks[0]
    for row in read(out, "coverage").to_pylist():
        if (row["network"] or "unknown") != layer.name:
            continue
        tile = row["tile_x"] // facts.frame.merged, row["tile_y"] // facts.frame.merged
        expected[tile].update({pair["dbm"]: pair["count"] for pair in row["rsrp_histogram"]})
    drawn = dict(zip(zip(layer.x.tolist(), layer.y.tolist(), strict=True), layer.rsrp_p50_dbm.tolist(), strict=True))
    assert drawn == pytest.approx({tile: nearest_rank(h, 0.5) for tile, h in expected.items()}, nan_ok=True)


def test_networks_add_up_and_an_unknown_one_has_a_name(make_tables: MakeTables) -> None:
    facts = coverage_facts(make_tables(tiles=60), 1.1)
    assert facts is not None
    assert {network.name for network in facts.totals} == {"unknown", "5G", "LTE", "HSPA+"}
    assert sum(network.samples for network in facts.totals) == facts.samples
    assert [layer.name for layer in facts.networks] == [network.name for network in facts.totals]
    assert all(n.samples_per_tile_p50 <= n.samples_per_tile_max <= n.samples for n in facts.totals)


def test_networks_of_two_operators_are_two(tmp_path: Path) -> None:
    write_tables(tmp_path, tiles=60, operator="A")
    facts = coverage_facts(tmp_path, 1.1)
    assert facts is not None
    assert {network.name for network in facts.totals} == {"A unknown", "A 5G", "A LTE", "A HSPA+", "HSPA+"}
    assert (len(facts.networks), facts.networks_left_out) == (5, 0)


def test_names_that_read_the_same_are_no_one_network() -> None:
    """And who has as many readings comes in the order of the names."""
    pairs = [("A B", "C"), ("A", "B C"), (None, "A B C"), ("A", None), ("", "LTE"), (None, "LTE")]
    operator, network = zip(*pairs, strict=True)
    names, codes = _networks(pa.table({"operator": pa.array(operator), "network": pa.array(network)}))
    assert names == ["A B C", "A B C", "A B C", "A unknown", "LTE"]
    assert codes.tolist() == [0, 1, 2, 3, 4, 4]


@pytest.mark.parametrize("grid", [FEW, MANY])
def test_small_maps_lie_beside_each_other_within_the_picture(grid: Grid) -> None:
    boxes = [grid.place(index) for index in range(grid.abreast**2)]
    rooms = [(left, bottom, left + width, bottom + width / ASPECT + 0.42) for left, bottom, width in boxes]
    assert all(right < WIDTH and bottom > 0.7 and top < HEIGHT for _, bottom, right, top in rooms)
    for one, other in combinations(rooms, 2):
        assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def test_a_stray_tile_does_not_shrink_the_map_and_is_counted() -> None:
    x = np.append(np.arange(62_000, 62_040), 0)
    y = np.full(41, 43_000)
    shown = frame(x, y, np.append(np.full(40, 100), 1), 1.1)
    assert shown.zoom == 17
    assert shown.holds(x, y).sum() == 40


def test_a_wide_map_is_made_of_coarser_tiles() -> None:
    x, y = np.meshgrid(np.arange(60_000, 62_000, 7), np.arange(40_000, 42_000, 7))
    shown = frame(x.ravel(), y.ravel(), np.ones(x.size, dtype=np.int64), 1.1)
    assert shown.right - shown.left <= CELLS_ACROSS_MAX * 1.1
    assert shown.zoom < 17


def test_nearest_rank_on_many_histograms() -> None:
    histograms = Histograms(-3, np.array([[1, 0, 1, 0], [0, 0, 0, 0], [0, 9, 0, 1]]))
    assert histograms.percentile(0.5).tolist() == pytest.approx([-3, math.nan, -2], nan_ok=True)
    assert histograms.percentile(0.9).tolist() == pytest.approx([-1, math.nan, -2], nan_ok=True)
    assert histograms.share_from(-1).tolist() == pytest.approx([0.5, math.nan, 0.1], nan_ok=True)


def test_buckets_mean_what_the_job_means() -> None:
    from lapwing.pipeline.transforms import histogram as job

    assert job.BUCKET_WIDTH == BUCKET_WIDTH
    assert bucket_us(np.array([0.0]))[0] == 0
    for us in (1, 7, 1_000, 123_456_789):
        bucket = 1 + math.floor(math.log(us) / math.log(BUCKET_WIDTH))
        assert bucket_us(np.array([bucket, -bucket])) == pytest.approx([us, -us], rel=0.0101)


def test_loss_adds_up_over_time_and_over_devices(make_tables: MakeTables) -> None:
    facts = loss_facts(make_tables(devices=20, minutes=400, trouble=True))
    assert facts is not None
    assert facts.steps.name == "5 minutes"
    for name in COUNTS:
        assert facts.over_time[name].sum() == facts.per_device[name].sum() == facts.totals[name]
    assert facts.totals["lost"] == facts.totals["gap"] - facts.totals["recovered"]


def test_a_short_run_is_shown_by_the_second_and_a_long_one_is_not(make_tables: MakeTables) -> None:
    out = make_tables(minutes=2, trouble=True)
    short = latency_facts(out)
    assert [route.over_time.steps.name for route in short] == ["second"] * 5
    assert short[0].negative == 18


def test_a_long_run_is_shown_by_the_minute(make_tables: MakeTables) -> None:
    routes = latency_facts(make_tables(minutes=100))
    assert {route.over_time.steps.name for route in routes} == {"minute"}
    assert all(not np.isnan(route.over_time.p99_us).any() for route in routes)


def test_time_steps_hold_both_ends() -> None:
    steps = TimeSteps.over(59_999_999, 3_600_000_000)
    assert (steps.step_s, steps.start_us[0], steps.start_us[-1]) == (30, 30_000_000, 3_600_000_000)
    assert steps.sums(np.array([60_000_000, 89_999_999]), np.array([2, 3]))[1] == 5


@pytest.mark.parametrize(
    ("us", "text"),
    [
        (0, "0 µs"),
        (1.5, "1.5 µs"),
        (-432.1, "-432 µs"),
        (1_240, "1.24 ms"),
        (3.4e6, "3.4 s"),
        (6e8, "10 min"),
        (9e12, "104 days"),
    ],
)
def test_durations_in_readable_units(us: float, text: str) -> None:
    assert duration(us) == text


def test_a_small_share_is_not_shown_as_none() -> None:
    assert [share(value) for value in (0, 0.5, 0.00001234, math.nan)] == ["0 %", "50 %", "0.0012 %", "-"]
