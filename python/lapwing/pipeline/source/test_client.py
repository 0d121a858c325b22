"""What does a reader do with a broker that answers that it cannot answer?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from unittest.mock import Mock, patch

import pyarrow as pa
import pytest

from lapwing.contracts.envelope import ENVELOPE
from lapwing.errors import StreamError
from lapwing.pipeline.source.address import StreamAddress
from lapwing.pipeline.source.client import StreamClient

TOLD = json.dumps({"error": {"code": "state", "message": "the node does not run", "remedy": "wait"}}).encode()
HELD = json.dumps(
    {"name": "r", "uuid": "u", "partitions": [{"partition": 0, "first_offset": 0, "next_offset": 7}]}
).encode()


def client(answers: list[tuple[int, bytes]], retry_s: float, headers: Sequence[tuple[str, str]] = ()) -> StreamClient:
    made = StreamClient(StreamAddress.parse("http://played:1/v1/streams/r"), retry_s=retry_s)
    played = [Mock(status=status, read=Mock(return_value=body), getheaders=lambda: headers) for status, body in answers]
    made._connection = Mock(getresponse=Mock(side_effect=played))
    return made


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_broker_that_stops_is_tried_again(status: int) -> None:
    with patch("time.sleep") as slept:
        state = client([(status, TOLD), (status, b"<html>"), (200, HELD)], retry_s=60.0).state()
    assert (state.partitions[0].next_offset, slept.call_count) == (7, 2)


def test_one_that_stays_so_is_told_in_its_own_words() -> None:
    with patch("time.sleep"), pytest.raises(StreamError, match="the node does not run"):
        client([(503, TOLD)] * 2, retry_s=0.0).state()


def test_telling_how_far_a_reader_is_waits_for_nobody() -> None:
    """It comes before each batch, and the next one tells it as well."""
    asked = client([(503, TOLD)] * 2 + [(200, b"")], retry_s=60.0)
    with patch("time.sleep") as slept:
        with pytest.raises(StreamError, match="the node does not run"):
            asked.tell("spark", 1, 7)
        asked._connection = Mock(getresponse=Mock(return_value=Mock(status=200, read=Mock(), getheaders=list)))
        asked.tell("spark", 1, 7)
    assert slept.call_count <= 1, "a connection that was kept may have been closed meanwhile: that is tried again"
    target = asked._connection.request.call_args.args[1]
    assert target == "/v1/streams/r/1?from=7&limit=1&bytes=1&reader=spark"


def test_a_device_clock_that_is_no_date_is_null() -> None:
    """Python makes rows of misses and dead letters: one such message would stop their job for good."""
    schema = ENVELOPE.arrow_schema()
    plain = {"topic": "t", "payload": b"p", "client_id": "c", "qos": 0, "retain": False, "user_properties": []}
    times = {"partition": 0, "offset": 0, "ingress_at": 0, "appended_at": 0}
    row = pa.RecordBatch.from_pylist([plain | times], schema)
    place = schema.get_field_index("sent_at")
    beyond = pa.array([2**63 - 1], pa.int64()).cast(schema.field(place).type)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as stream:
        stream.write_batch(row.set_column(place, schema.field(place), beyond))
    headers = [("Lapwing-Stream-Uuid", "u"), ("Lapwing-Next-Offset", "1")]
    asked = client([(200, sink.getvalue().to_pybytes())], 0.0, headers)
    (batch,) = asked.read(0, 0, rows_max=1, bytes_max=1).batches
    assert [(row["payload"], row["sent_at"]) for row in batch.to_pylist()] == [(b"p", None)]
