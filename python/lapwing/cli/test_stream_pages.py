"""Pages of a stream: one that is made anew while it is read, and clocks of devices that cannot be."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from email.message import Message
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pyarrow as pa
import pytest

from lapwing.cli import stream as room
from lapwing.cli import stream_api
from lapwing.cli.stream_api import MadeAnewError, StreamApi
from lapwing.errors import LapwingError, OffsetAheadError


class PlayedBroker:
    """One partition of one stream, over what `StreamApi` takes for HTTP; two messages a page."""

    url = "http://played"

    def __init__(self, uuid: str, topics: str) -> None:
        self.uuid, self.topics, self.sent_at_us = uuid, topics, 0

    def request(self, _method: str, path: str) -> tuple[Message, bytes]:
        parts = urlsplit(path)
        if not parts.query:
            return Message(), json.dumps({"uuid": self.uuid}).encode()
        start = int(parse_qs(parts.query).get("from", ["0"])[0])
        if start > len(self.topics):
            raise OffsetAheadError(f"offset {start} is ahead of the end")
        places = range(start, min(start + 2, len(self.topics)))
        rows = [{"offset": n, "topic": self.topics[n], "sent_at": self.sent_at_us} for n in places]
        headers = Message()
        headers["Lapwing-Stream-Uuid"] = self.uuid
        headers["Lapwing-Next-Offset"] = str(start + len(rows))
        headers["Lapwing-End-Offset"] = str(len(self.topics))
        return headers, _arrow(rows)


def _arrow(rows: Sequence[Mapping[str, Any]]) -> bytes:
    names = [("offset", pa.int64()), ("topic", pa.string()), ("sent_at", pa.timestamp("us", "UTC"))]
    # By way of plain numbers: Arrow makes no time of one that is no date.
    columns = [
        pa.array([row[name] for row in rows], pa.string() if name == "topic" else pa.int64()) for name, _ in names
    ]
    schema = pa.schema(names)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        writer.write_table(pa.table(columns, schema.names).cast(schema))
    return bytes(sink.getvalue())


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> PlayedBroker:
    """A stream with the four messages a to d."""
    broker = PlayedBroker("first", "abcd")
    monkeypatch.setattr(stream_api, "HttpApi", lambda *_, **__: broker)
    return broker


def read(*, follow: bool, limit: int | None = None) -> Iterator[str]:
    """Topics, as they are read."""
    for row in room._rows(StreamApi("http://played"), "all", 0, None, limit, None, follow=follow):
        yield row["topic"]


@pytest.mark.parametrize("topics", ["tuvwxyz", "tuv", "t"])
def test_follow_reads_the_new_one(broker: PlayedBroker, capsys: pytest.CaptureFixture[str], topics: str) -> None:
    """Longer than the offset that was reached, as long, or shorter: from its oldest message, and told."""
    following = read(follow=True, limit=4 + len(topics))
    assert [next(following) for _ in range(4)] == list("abcd")
    broker.uuid, broker.topics = "second", topics
    assert list(following) == list(topics)
    assert capsys.readouterr().err.count("'all' was made anew while it was read; going on with its oldest message") == 1


@pytest.mark.parametrize("topics", ["tuvwxyz", "t"])
def test_without_follow_it_is_an_error(broker: PlayedBroker, topics: str) -> None:
    reading = read(follow=False)
    assert [next(reading) for _ in range(2)] == ["a", "b"]
    broker.uuid, broker.topics = "second", topics
    with pytest.raises(MadeAnewError, match="stream 'all' was made anew while it was read"):
        next(reading)


def test_the_same_stream_that_is_shorter_is_an_error(broker: PlayedBroker) -> None:
    """It has lost what was read already; nobody may take that for a new stream."""
    following = read(follow=True)
    assert [next(following) for _ in range(4)] == list("abcd")
    broker.topics = "ab"
    with pytest.raises(LapwingError, match="ahead of the end"):
        next(following)


@pytest.mark.parametrize("sent_at_us", [2**63 - 1, -(2**63)])
def test_a_clock_that_is_no_date_is_none(broker: PlayedBroker, sent_at_us: int) -> None:
    """A stream that is older than this release may hold one; whoever reads it gets what lies behind, too."""
    broker.sent_at_us = sent_at_us
    rows = list(room._rows(StreamApi("http://played"), "all", 0, None, None, None, follow=False))
    assert [(row["topic"], row["sent_at"]) for row in rows] == [(topic, None) for topic in "abcd"]
