"""The whole path against a second computation: is what comes out of the tables what went in from the CSV
files, whichever way it went?

``lapwing demo --replay`` plays all traces through broker, stream and Spark, and once more through broker, bridge, Kafka
and Spark; ``oracle.cork_coverage`` reads the same files with plain Python. Counts, sums and histograms must be equal,
not near.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from oracle import cork_coverage

from lapwing.contracts.reading import READING
from lapwing.contracts.tables import KEYS
from lapwing.pipeline.report.tables import read

TRACES = Path(__file__).parents[3] / "shared" / "data" / "cork-5g-traces.zip"
READINGS = 135_089
WAYS = {"stream": [], "kafka": ["--kafka"]}

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(not TRACES.exists(), reason="../shared/data/cork-5g-traces.zip is missing"),
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java"),
    pytest.mark.timeout(900),
]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Gives the folder of a way, which is played once."""

    @cache
    def play(way: str) -> Path:
        folder = tmp_path_factory.mktemp(f"replay-{way}") / "out"
        traces = ["--replay", TRACES, "--speed", "200", *WAYS[way]]
        command = [sys.executable, "-m", "lapwing", "demo", *traces, "--out", folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return folder

    return play


@pytest.fixture(scope="module", params=WAYS)
def out(request: pytest.FixtureRequest, played: Callable[[str], Path]) -> Path:
    return played(request.param)


@pytest.fixture(scope="module")
def expected() -> dict[cork_coverage.Key, cork_coverage.Cell]:
    return cork_coverage.coverage(TRACES)


def rows_of(out: Path, table: str, columns: list[str] | None = None) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = read(out, table, columns).to_pylist()
    return rows


def key_of(row: dict[str, Any]) -> cork_coverage.Key:
    return row["window_start"], row["tile"], row["network"], row["channel"], row["operator"]


def test_every_reading_is_there_once(out: Path) -> None:
    serials = [
        (row["device"], row["boot"], row["serial"]) for row in rows_of(out, "readings", ["device", "boot", "serial"])
    ]
    assert len(serials) == len(set(serials)) == READINGS
    assert rows_of(out, "quarantine", ["reason"]) == []


def test_readings_hold_what_the_files_hold(out: Path) -> None:
    columns = ["device", "serial", "measured_at", "lat", "lon", "network", "rsrp_dbm"]
    found = Counter(tuple(row.values()) for row in rows_of(out, "readings", columns))
    assert found == Counter(_expected_readings())


def _expected_readings() -> list[tuple[Any, ...]]:
    serials: Counter[str] = Counter()
    expected = []
    for row in cork_coverage.rows(TRACES):
        device = Path(row["file"]).stem
        rsrp = int(row["RSRP"])
        expected.append(
            (
                device,
                serials[device],
                cork_coverage.measured_at(row),
                float(row["Latitude"]),
                float(row["Longitude"]),
                row["NetworkMode"],
                None if rsrp == cork_coverage.NO_RSRP_DBM else rsrp,
            )
        )
        serials[device] += 1
    return expected


def test_coverage_is_equal_exactly(out: Path, expected: dict[cork_coverage.Key, cork_coverage.Cell]) -> None:
    table = {key_of(row): row for row in rows_of(out, "coverage")}
    assert table.keys() == expected.keys()
    for key, cell in expected.items():
        row = table[key]
        histogram = {pair["dbm"]: pair["count"] for pair in row["rsrp_histogram"]}
        assert histogram == dict(cell.rsrp_dbm), key
        found = (
            row["samples"],
            row["rsrp_count"],
            row["rsrp_sum_dbm"],
            row["occupied_count"],
            row["last_seen"],
        )
        assert found == (cell.samples, cell.rsrp_count, cell.rsrp_sum_dbm, 0, cell.last_seen), key


def test_what_follows_from_the_histograms_is_equal_too(
    out: Path, expected: dict[cork_coverage.Key, cork_coverage.Cell]
) -> None:
    for row in rows_of(out, "coverage"):
        cell = expected[key_of(row)]
        found = (row["rsrp_p10_dbm"], row["rsrp_p50_dbm"], row["rsrp_p90_dbm"])
        assert found == tuple(map(cell.nearest_rank, (100, 500, 900))), row["tile"]
        assert row["occupied_share_mean"] is None
        if cell.rsrp_count:
            assert row["rsrp_mean_dbm"] == pytest.approx(cell.rsrp_sum_dbm / cell.rsrp_count, rel=1e-12)
            assert row["served_share"] == pytest.approx(cell.served(row["served_dbm"]) / cell.rsrp_count, rel=1e-12)
        else:
            assert row["rsrp_mean_dbm"] is None
            assert row["served_share"] is None


def test_summary_and_pictures_are_there(out: Path) -> None:
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    assert (summary["sent"], summary["received"], summary["missing"]) == (READINGS, READINGS, 0)
    assert (summary["lost"], summary["repeated"], summary["malformed"]) == (0, 0, [])
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Raca" in page, "the source of the traces is not named"
    for name in ("coverage.png", "latency.png", "loss.png"):
        assert (out / name).read_bytes().startswith(b"\x89PNG")


def test_both_ways_have_the_same_readings(played: Callable[[str], Path]) -> None:
    """Whatever a reading says but when it was sent, which is the replay's own."""
    said = [name for name in READING.names if name != "sent_at"]
    stream, kafka = (sorted_by(read(played(way), "readings", said), ["device", "boot", "serial"]) for way in WAYS)
    assert stream.num_rows == READINGS
    assert stream.equals(kafka)


def test_both_ways_have_the_same_coverage(played: Callable[[str], Path]) -> None:
    """Every column of every row: counts, sums, histograms, and what follows from them."""
    stream, kafka = (sorted_by(read(played(way), "coverage"), KEYS["coverage"]) for way in WAYS)
    assert stream.equals(kafka)


def test_both_ways_have_the_same_quality(played: Callable[[str], Path]) -> None:
    """Per device, for minutes are those of the run. Members of the bridge share the messages, so that Kafka has them in
    another order: each gap that this reveals is filled.
    """
    stream, kafka = (quality_of(played(way)) for way in WAYS)
    assert stream == kafka
    assert sum(each["received"] for each in stream.values()) == READINGS
    assert all(row["reordered"] == row["gap"] == 0 for row in rows_of(played("stream"), "quality"))


def sorted_by(table: pa.Table, columns: Sequence[str]) -> pa.Table:
    return table.sort_by([(name, "ascending") for name in columns]).combine_chunks()


def quality_of(out: Path) -> dict[str, Counter[str]]:
    """Per device the sums that do not hang on the order of arrival."""
    devices: dict[str, Counter[str]] = {}
    for row in rows_of(out, "quality"):
        assert row["lost"] == row["gap"] - row["recovered"]
        counted = {name: row[name] for name in ("received", "lost", "repeated")}
        devices.setdefault(row["device"], Counter()).update(counted)
    return devices
