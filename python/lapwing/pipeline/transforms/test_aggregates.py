"""Are the aggregates exact, and the same however a batch is cut and its parts are joined?"""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lapwing.contracts.tables import COVERAGE, LATENCY, QUALITY
from lapwing.pipeline.transforms.coverage import bins_of_coverage, coverage, coverage_bins
from lapwing.pipeline.transforms.histogram import bucket, bucket_middle
from lapwing.pipeline.transforms.latency import bins_of_latency, latency, latency_bins
from lapwing.pipeline.transforms.quality import joined_quality, quality
from lapwing.pipeline.transforms.tiles import tile_bounds, tile_xy

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TIME = pa.timestamp("us", "UTC")
COLUMNS: dict[str, tuple[pa.DataType, Any]] = {
    "device": (pa.string(), "d"),
    "first": (pa.bool_(), True),
    "repeated": (pa.bool_(), False),
    "late": (pa.bool_(), False),
    "gap": (pa.int64(), 0),
    "recovered": (pa.int64(), 0),
    "before_start": (pa.int64(), 0),
    "sent_at": (TIME, NOON),
    "measured_at": (TIME, NOON),
    "ingress_at": (TIME, NOON + timedelta(milliseconds=2)),
    "appended_at": (TIME, NOON + timedelta(milliseconds=3)),
    "observed_at": (TIME, NOON + timedelta(seconds=1)),
    "lat": (pa.float64(), 51.9),
    "lon": (pa.float64(), -8.47),
    "network": (pa.string(), "5G"),
    "channel": (pa.int32(), 6300),
    "operator": (pa.string(), "A"),
    "occupied_share": (pa.float64(), 0.25),
    "rsrp_dbm": (pa.int32(), -97),
}


def classified(rows: list[dict[str, Any]]) -> pa.Table:
    """Classified rows, with defaults for what a row does not say."""
    return pa.table(
        {name: pa.array([row.get(name, value) for row in rows], kind) for name, (kind, value) in COLUMNS.items()}
    )


def told(rows: pa.Table) -> list[dict[str, Any]]:
    """Rows in an order that does not depend on how they came about."""
    return sorted(rows.to_pylist(), key=lambda row: str(list(row.values())[:4]))


def schema(record: Any) -> pa.Schema:
    return pa.schema(list(record.arrow_schema()))


def test_a_minute_s_columns_add_up() -> None:
    rows = quality(
        classified(
            [
                {},
                {"gap": 3},
                {"late": True, "recovered": 1},
                {"first": False, "repeated": True},
                {"ingress_at": NOON + timedelta(minutes=1), "late": True, "recovered": 1},
                {"device": "e", "gap": 1},
            ]
        )
    )
    assert rows.schema.equals(schema(QUALITY))
    told = {(r["device"], r["minute"].minute): r for r in rows.to_pylist()}
    noon = told["d", 0]
    assert (noon["received"], noon["gap"], noon["recovered"], noon["lost"]) == (4, 3, 1, 2)
    assert (noon["repeated"], noon["reordered"]) == (1, 1)
    assert told["d", 1]["lost"] == -1  # it fills a gap of the minute before
    assert told["e", 0]["lost"] == 1
    assert joined_quality(pa.concat_tables([rows, rows]))["received"].to_pylist() == [
        2 * n for n in rows["received"].to_pylist()
    ]


def test_latency_is_exact_at_its_ends_and_within_a_percent_between() -> None:
    micros = [*range(1, 2_000), 1_000_000, -5_000]
    rows = latency(latency_bins(classified([{"sent_at": NOON - timedelta(microseconds=us - 2_000)} for us in micros])))
    assert rows.schema.equals(schema(LATENCY))
    sent = next(row for row in rows.to_pylist() if row["route"] == "sent->ingress")
    ranked = sorted(micros)
    assert (sent["count"], sent["min_us"], sent["max_us"]) == (len(micros), -5_000, 1_000_000)
    for name, per_mille in {"p50_us": 500, "p95_us": 950, "p99_us": 990, "p999_us": 999}.items():
        exact = ranked[-(-len(ranked) * per_mille // 1000) - 1]
        assert sent[name] == pytest.approx(exact, rel=0.0101)


def test_a_clock_that_is_not_known_has_no_route() -> None:
    rows = latency(latency_bins(classified([{"observed_at": None}])))
    assert set(rows["route"].to_pylist()) == {"sent->ingress", "ingress->appended"}


def test_a_place_s_statistics() -> None:
    dbm = [-120, -111, -110, -97, None]
    rows = coverage(coverage_bins(classified([{"rsrp_dbm": value, "occupied_share": 0.1} for value in dbm])))
    assert rows.schema.equals(schema(COVERAGE))
    (row,) = rows.to_pylist()
    x, y = tile_xy(np.array([51.9]), np.array([-8.47]))
    assert row["tile"] == f"17/{x[0]}/{y[0]}"
    assert (row["samples"], row["rsrp_count"], row["occupied_count"]) == (5, 4, 5)
    assert row["occupied_share_mean"] == pytest.approx(0.1)
    assert row["rsrp_mean_dbm"] == pytest.approx((-120 - 111 - 110 - 97) / 4)
    assert (row["rsrp_p10_dbm"], row["rsrp_p50_dbm"], row["rsrp_p90_dbm"]) == (-120, -111, -97)
    assert (row["served_share"], row["served_dbm"]) == (0.5, -110)
    assert row["rsrp_histogram"] == [{"dbm": value, "count": 1} for value in (-120, -111, -110, -97)]
    assert row["window_start"] == NOON


def test_what_nobody_reported_is_a_key_and_no_value() -> None:
    nothing = {"network": None, "channel": None, "rsrp_dbm": None, "occupied_share": None}
    (row,) = coverage(coverage_bins(classified([nothing, nothing]))).to_pylist()
    assert (row["samples"], row["rsrp_count"], row["occupied_count"]) == (2, 0, 0)
    for name in ("network", "channel", "rsrp_p50_dbm", "rsrp_mean_dbm", "served_share", "occupied_share_mean"):
        assert row[name] is None
    assert row["rsrp_histogram"] == []


def test_only_first_copies_with_a_position_cover() -> None:
    rows: list[dict[str, Any]] = [{"first": False}, {"lat": None, "lon": None}]
    assert coverage(coverage_bins(classified(rows))).num_rows == 0
    assert latency(latency_bins(classified([{"first": False}]))).num_rows == 0


ROW = st.fixed_dictionaries(
    {
        "first": st.booleans(),
        "rsrp_dbm": st.none() | st.integers(-140, -40),
        "channel": st.none() | st.integers(0, 2),
        "network": st.sampled_from([None, "5G", "LTE"]),
        "occupied_share": st.none() | st.floats(0, 1),
        "lon": st.sampled_from([-8.47, -8.46]),
        "measured_at": st.sampled_from([NOON, NOON - timedelta(days=300), NOON + timedelta(minutes=16)]),
        "sent_at": st.integers(-100, 100).map(lambda us: NOON + timedelta(microseconds=us)),
    }
)


@settings(max_examples=50)
@given(st.lists(ROW, min_size=1, max_size=40), st.integers(0, 40))
def test_parts_join_to_the_same_rows_however_they_were_cut(rows: list[dict[str, Any]], cut: int) -> None:
    whole, parts = classified(rows), [classified(rows[:cut]), classified(rows[cut:])]
    bins = [coverage_bins(part) for part in parts]
    stored = bins_of_coverage(coverage(bins[0]))  # the first part has been through the table
    assert told(coverage(pa.concat_tables([bins[1], stored]))) == told(coverage(coverage_bins(whole)))
    bins = [latency_bins(part) for part in parts]
    stored = bins_of_latency(latency(bins[0]))
    assert told(latency(pa.concat_tables([bins[1], stored]))) == told(latency(latency_bins(whole)))


@settings(max_examples=50)
@given(st.lists(ROW, min_size=1, max_size=40))
def test_coverage_is_what_counting_says(rows: list[dict[str, Any]]) -> None:
    found = coverage(coverage_bins(classified(rows))).to_pylist()
    for row in found:
        mine = [
            each
            for each in rows
            if each["first"]
            and (each["network"], each["channel"]) == (row["network"], row["channel"])
            and each["measured_at"] - row["window_start"] < timedelta(minutes=15)
            and each["measured_at"] >= row["window_start"]
            and tile_xy(np.array([51.9]), np.array([each["lon"]]))[0][0] == row["tile_x"]
        ]
        heard = sorted(each["rsrp_dbm"] for each in mine if each["rsrp_dbm"] is not None)
        shares = [each["occupied_share"] for each in mine if each["occupied_share"] is not None]
        assert row["samples"] == len(mine)
        assert row["occupied_sum_ppb"] == sum(round(share * 1e9) for share in shares)
        assert [bar["dbm"] for bar in row["rsrp_histogram"] for _ in range(bar["count"])] == heard
        assert row["rsrp_p90_dbm"] == (heard[-(-len(heard) * 9 // 10) - 1] if heard else None)
        assert row["last_seen"] == max(each["measured_at"] for each in mine)
    assert sum(row["samples"] for row in found) == sum(each["first"] for each in rows)


def test_tiles_are_where_maps_have_them() -> None:
    lat, lon = np.array([0.0, 85.06, -89.0, 51.8985]), np.array([0.0, -180.0, 180.0, -8.4756])
    x, y = tile_xy(lat, lon)
    assert list(zip(x.tolist(), y.tolist(), strict=True))[:3] == [(65536, 65536), (0, 0), (131071, 131071)]
    west, south, east, north = tile_bounds(int(x[3]), int(y[3]))
    assert west <= -8.4756 < east
    assert south < 51.8985 <= north
    # An independent formula, with asinh.
    assert y[3] == math.floor((1 - math.asinh(math.tan(math.radians(51.8985))) / math.pi) / 2 * 2**17)


@given(st.integers(-(10**15), 10**15))
def test_a_bucket_s_middle_is_within_a_percent(us: int) -> None:
    (middle,) = bucket_middle(bucket(np.array([us])))
    assert middle == pytest.approx(us, rel=0.0100001)
