"""Do the three renderings of a record say the same?"""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from pyspark.sql.pandas.types import to_arrow_schema

from lapwing.contracts.envelope import ENVELOPE
from lapwing.contracts.fields import Record
from lapwing.contracts.reading import READING
from lapwing.contracts.tables import KEYS, TABLES

RECORDS = [ENVELOPE, READING, *TABLES.values()]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
def test_arrow_and_spark_agree(record: Record) -> None:
    assert to_arrow_schema(record.spark_schema(), timezone="UTC").equals(record.arrow_schema())


def test_the_envelope_is_the_wire_s() -> None:
    assert ENVELOPE.names[:8] == [
        "topic",
        "payload",
        "client_id",
        "qos",
        "retain",
        "user_properties",
        "partition",
        "offset",
    ]
    assert ENVELOPE.names[8:] == ["sent_at", "ingress_at", "appended_at", "forwarded_at", "observed_at"]
    assert ENVELOPE.arrow_schema().metadata == {b"lapwing.envelope.version": b"1"}
    assert ENVELOPE.arrow_schema().field("sent_at").type == pa.timestamp("us", "UTC")


def test_the_json_schema_names_what_is_required() -> None:
    schema = json.loads(json.dumps(READING.json_schema()))
    assert schema["required"] == ["device", "boot", "serial", "sent_at", "measured_at"]
    assert schema["properties"]["occupied_share"]["type"] == ["number", "null"]
    assert schema["properties"]["occupied_share"]["maximum"] == 1


def test_keys_are_columns() -> None:
    assert all(key in TABLES[name].names for name, keys in KEYS.items() for key in keys)
