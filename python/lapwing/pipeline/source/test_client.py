"""What does a reader do with a broker that answers that it cannot answer?"""

from __future__ import annotations

import json
from unittest.mock import Mock, patch

import pytest

from lapwing.errors import StreamError
from lapwing.pipeline.source.address import StreamAddress
from lapwing.pipeline.source.client import StreamClient

TOLD = json.dumps({"error": {"code": "state", "message": "the node does not run", "remedy": "wait"}}).encode()
HELD = json.dumps(
    {"name": "r", "uuid": "u", "partitions": [{"partition": 0, "first_offset": 0, "next_offset": 7}]}
).encode()


def client(answers: list[tuple[int, bytes]], retry_s: float) -> StreamClient:
    made = StreamClient(StreamAddress.parse("http://played:1/v1/streams/r"), retry_s=retry_s)
    played = [Mock(status=status, read=Mock(return_value=body), getheaders=list) for status, body in answers]
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
