"""Do the columns of a batch say what the contract says of each record, whatever its headers are?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from lapwing.contracts import kafka_record as names
from lapwing.contracts.envelope import CARRIED
from lapwing.contracts.kafka_envelope import read_envelope
from lapwing.pipeline.source.kafka_columns import KAFKA_COLUMNS, envelopes

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
STAMP = datetime(2026, 3, 1, tzinfo=UTC)
NAMES = [
    names.TOPIC, names.CLIENT, names.QOS, names.RETAIN, names.SENT_AT_US, names.INGRESS_US,
    names.FORWARDED_US, names.MESSAGE_ID, "unit", "property-unit", "property-", "property-lapwing-topic", "strange",
]  # fmt: skip
VALUES = [None, b"", b"0", b"1", b"2", b"7", b"-1", b"1767225600000000", b"999999999999999999", b"d\xc3\xa9", b"\xff"]
VALUES += [b"i" * names.MESSAGE_ID_CHARS_MAX, b"i" * (names.MESSAGE_ID_CHARS_MAX + 1)]
RECORDS = st.lists(
    st.fixed_dictionaries(
        {
            "key": st.sampled_from([None, b"", b"d1", b"\xff"]),
            "value": st.sampled_from([None, b"", b"{}"]),
            "timestampType": st.sampled_from([0, 1]),
            "headers": st.none() | st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(VALUES)), max_size=6),
        }
    ),
    max_size=5,
)


def batch(records: list[dict[str, Any]]) -> pa.RecordBatch:
    """As Spark hands it to a task."""
    header = pa.struct([("key", pa.string()), ("value", pa.binary())])
    lists = [each["headers"] and [{"key": k, "value": v} for k, v in each["headers"]] for each in records]
    columns = {
        "key": pa.array([each["key"] for each in records], pa.binary()),
        "value": pa.array([each["value"] for each in records], pa.binary()),
        "partition": pa.array([3] * len(records), pa.int32()),
        "offset": pa.array(range(len(records)), pa.int64()),
        "timestamp": pa.array([each.get("timestamp", STAMP) for each in records], pa.timestamp("us", "UTC")),
        "timestampType": pa.array([each["timestampType"] for each in records], pa.int32()),
        "headers": pa.array(lists, pa.list_(header)),
    }
    return pa.RecordBatch.from_arrays([columns[name] for name in KAFKA_COLUMNS], names=list(KAFKA_COLUMNS))


def expected(record: dict[str, Any], offset: int) -> dict[str, Any]:
    told = read_envelope(record["headers"] or [], topic="readings", key=record["key"])
    stamp = max(EPOCH, record.get("timestamp", STAMP))
    forwarded = at(told.forwarded_at_us)
    return {
        "topic": told.topic,
        "payload": record["value"] or b"",
        "client_id": told.client_id,
        "qos": told.qos,
        "retain": told.retain,
        "user_properties": [{"name": name, "value": value} for name, value in told.user_properties],
        "partition": 3,
        "offset": offset,
        "sent_at": at(told.sent_at_us),
        "ingress_at": at(told.ingress_at_us) or stamp,
        "appended_at": stamp if record["timestampType"] == 1 else forwarded or stamp,
        "forwarded_at": forwarded,
        "observed_at": None,
        "message_id": told.message_id or None,
    }


def at(us: int | None) -> datetime | None:
    return None if us is None else EPOCH + timedelta(microseconds=us)


@given(RECORDS, st.integers(0, 2))
def test_a_batch_says_what_each_record_says(records: list[dict[str, Any]], skipped: int) -> None:
    """Also of a slice: Arrow's offsets are easily forgotten."""
    made = envelopes(batch(records).slice(skipped), "readings")
    assert made.schema == CARRIED.arrow_schema()
    assert made.to_pylist() == [expected(record, n) for n, record in enumerate(records)][skipped:]


def test_a_record_without_a_time_is_of_the_first_moment_there_is() -> None:
    record = {
        "key": None,
        "value": b"",
        "timestampType": 0,
        "headers": None,
        "timestamp": EPOCH - timedelta(milliseconds=1),
    }
    (made,) = envelopes(batch([record]), "readings").to_pylist()
    assert made["ingress_at"] == made["appended_at"] == EPOCH
