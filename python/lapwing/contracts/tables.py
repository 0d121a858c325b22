"""What the ``coverage`` job writes: one Delta table per record, at ``OUT/tables/NAME``.

Percentiles are nearest rank on the histogram that stands beside them, so a reader can ask for any other one.
``KEYS`` names the columns that make a row of an aggregate; a null (a channel nobody reported) is a key
like any other.
"""

from __future__ import annotations

from collections.abc import Mapping

from lapwing.contracts.clocks import CLOCKS
from lapwing.contracts.decode import NOTES
from lapwing.contracts.envelope import ENVELOPE
from lapwing.contracts.fields import Field, Record
from lapwing.contracts.reading import READING

VERSION = 2
_TIMES = {clock.name: Field(clock.column, "time", clock.meaning, nullable=True) for clock in CLOCKS}
_DAY = Field("day", "string", "of `ingress_at` (UTC), else of `observed_at`: the table's partitions", nullable=True)
PARTITIONED = ("readings", "quarantine")
"""By ``day``: the tables that are appended to."""
_POSITION = (ENVELOPE["partition"], ENVELOPE["offset"])


def _count(name: str, meaning: str) -> Field:
    return Field(name, "int64", meaning)


def _since_2(name: str, meaning: str) -> Field:
    return Field(name, "int64", f"{meaning}; null: written before version 2", nullable=True)


def _statistic(name: str, meaning: str, unit: str = "") -> Field:
    return Field(name, "float64", meaning, unit, nullable=True)


def _bins(value: str, meaning: str, unit: str) -> tuple[Field, ...]:
    return (Field(value, "int32", meaning, unit), _count("count", "how many"))


READINGS = Record(
    "readings",
    VERSION,
    (
        *READING.fields,
        _TIMES["ingress"],
        _TIMES["appended"],
        _TIMES["forwarded"],
        _TIMES["observed"],
        *_POSITION,
        Field("client_id", "string", "who published it; null: written before version 2", nullable=True),
        Field("topic", "string", "where to; null: written before version 2", nullable=True),
        NOTES,
        _DAY,
    ),
)
"""Valid readings, each once, whatever MQTT repeated."""

QUARANTINE = Record(
    "quarantine",
    VERSION,
    (
        Field("reason", "string", "what broke the contract: a name of `lapwing.contracts.rules`"),
        Field("field", "string", "the member that broke it; null where none is to blame", nullable=True),
        Field("topic", "string", "the topic that it was published to"),
        Field("client_id", "string", "who published it"),
        Field("payload", "binary", "the bytes, untouched; of a reading that keeps the contract it as JSON"),
        _TIMES["ingress"],
        _TIMES["appended"],
        _TIMES["observed"],
        *_POSITION,
        _DAY,
    ),
)
"""Payloads that break the reading's contract, and readings whose serial is another's, or cannot be."""

QUALITY = Record(
    "quality",
    VERSION,
    (
        Field("device", "string", "the device"),
        Field("minute", "time", "minute of the broker's ingress clock"),
        _count("received", "readings that arrived, repeats included"),
        _count("gap", "serials skipped by what ran ahead: counted where it revealed them"),
        _count("recovered", "serials that had been counted in a gap and came after all"),
        _count("lost", "gap - recovered: have not arrived; exact over any range, may be negative in one minute"),
        _count("repeated", "readings that had arrived before"),
        _count("reordered", "first copies with a lower serial at a higher position"),
        _since_2("missing", "the same as `lost`"),
        _since_2("quarantined", "arrived, and lie in `quarantine`: their device and serial could be read"),
        _since_2(
            "before_start",
            "serials below the first one that was met, where the job began later than the device, or deleted unread",
        ),
    ),
)

LATENCY = Record(
    "latency",
    VERSION,
    (
        Field("minute", "time", "minute of the broker's ingress clock"),
        Field("route", "string", "a pair of clocks: a name of `lapwing.contracts.clocks.ROUTES`"),
        _count("count", "readings (first copies) with both clocks"),
        Field("min_us", "int64", "exact", "us"),
        Field("max_us", "int64", "exact", "us"),
        Field("p50_us", "float64", "nearest rank, within 1 %", "us"),
        Field("p95_us", "float64", "nearest rank, within 1 %", "us"),
        Field("p99_us", "float64", "nearest rank, within 1 %", "us"),
        Field("p999_us", "float64", "nearest rank, within 1 %", "us"),
        Field("histogram", "rows", "logarithmic, ascending", rows=_bins("bucket", "2 % wide", "")),
    ),
)

COVERAGE = Record(
    "coverage",
    VERSION,
    (
        Field("window_start", "time", "start of 15 minutes of `measured_at`"),
        Field("tile", "string", "Web Mercator tile at zoom 17 as z/x/y"),
        Field("network", "string", "5G, LTE, ...; null: nobody said", nullable=True),
        Field("channel", "int32", "channel number; null: nobody said", nullable=True),
        Field("tile_x", "int32", "column of the tile"),
        Field("tile_y", "int32", "row of the tile"),
        _count("samples", "readings (first copies) with a position"),
        _count("occupied_count", "readings that knew `occupied_share`"),
        Field("occupied_sum_ppb", "int64", "their sum, in parts per billion: exact in any order", "1e-9"),
        _statistic("occupied_share_mean", "mean of `occupied_share`", "0..1"),
        _count("rsrp_count", "readings that knew RSRP"),
        Field("rsrp_sum_dbm", "int64", "their sum", "dBm"),
        _statistic("rsrp_mean_dbm", "mean of the values in dBm", "dBm"),
        Field("rsrp_p10_dbm", "int32", "nearest rank, exact", "dBm", nullable=True),
        Field("rsrp_p50_dbm", "int32", "nearest rank, exact", "dBm", nullable=True),
        Field("rsrp_p90_dbm", "int32", "nearest rank, exact", "dBm", nullable=True),
        _statistic("served_share", "share of `rsrp_count` with RSRP >= `served_dbm`", "0..1"),
        Field("served_dbm", "int32", "the threshold that was set as the row was written", "dBm"),
        Field("last_seen", "time", "latest `measured_at`"),
        Field("rsrp_histogram", "rows", "exact, ascending", rows=_bins("dbm", "RSRP", "dBm")),
        Field("operator", "string", "network operator; null: nobody said, or written before version 2", nullable=True),
    ),
)

SEEN = Record(
    "seen",
    VERSION,
    (
        Field("device", "string", "the device; or what names a message that has no serial"),
        Field("boot", "int64", "its start; -1: it is a message"),
        Field(
            "block",
            "int64",
            "serial div 64, or -2 less that: of broken ones; -1: `mask` is the first serial met; 0: it is a message",
        ),
        Field("mask", "int64", "bit serial mod 64 is set: that one has arrived; 1: that message has"),
        Field("prints", "binary", "16 bits per serial of what the reading says; null: nobody knows", nullable=True),
    ),
)
"""Written last: what stands here stands in every other table."""

TABLES: Mapping[str, Record] = {
    record.name: record for record in (READINGS, QUARANTINE, QUALITY, LATENCY, COVERAGE, SEEN)
}
KEYS: Mapping[str, tuple[str, ...]] = {
    "quality": ("device", "minute"),
    "latency": ("minute", "route"),
    "coverage": ("window_start", "tile", "network", "channel", "operator"),
    "seen": ("device", "boot", "block"),
}
"""The aggregates' keys; `readings` and `quarantine` are appended to."""
