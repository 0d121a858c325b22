"""Streams over HTTP against a real broker: what is read, what is refused and how, and what is counted."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from web import Response, get

from lapwing import Broker
from lapwing.config import Config

COLUMNS = [
    "topic", "payload", "client_id", "qos", "retain", "user_properties", "partition", "offset",
    "sent_at", "ingress_at", "appended_at", "forwarded_at", "observed_at",
]  # fmt: skip
with_stream = pytest.mark.lapwing(
    streams={"readings": {"filter": "spectrum/+/readings", "partitions": 2, "key": "topic"}},
    http="127.0.0.1:0",
)
Publish = Callable[[str, Iterable[tuple[str, bytes]]], None]


class Web:
    """The broker's HTTP side, by path."""

    def __init__(self, url: str) -> None:
        self.url = url

    def get(self, path: str, params: dict[str, object] | None = None) -> Response:
        return get(self.url + path, params)


@pytest.fixture
def web(lapwing_broker: Broker) -> Web:
    return Web(lapwing_broker.http_url)


def rows_of(response: Response) -> list[dict[str, Any]]:
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/vnd.apache.arrow.stream"
    table = pa.ipc.open_stream(response.content).read_all()
    assert table.column_names == COLUMNS
    assert table.schema.metadata[b"lapwing.envelope.version"] == b"1"
    return table.to_pylist()


def filled(web: Web) -> int:
    """The partition of a one-topic stream that has the messages."""
    partitions = web.get("/v1/streams/readings").json()["partitions"]
    return max(partitions, key=lambda partition: partition["next_offset"])["partition"]


@with_stream
def test_what_was_published_is_read(lapwing_broker: Broker, web: Web, publish: Publish) -> None:
    """Does a message come back whole, and do the headers say where to go on?"""
    publish(lapwing_broker.url, [("spectrum/d1/readings", b"%d" % n) for n in range(25)] + [("other", b"x")])
    partition = filled(web)
    response = web.get(f"/v1/streams/readings/{partition}", params={"from": 5, "limit": 10})
    rows = rows_of(response)
    assert [(row["offset"], row["payload"]) for row in rows] == [(n, b"%d" % n) for n in range(5, 15)]
    first = rows[0]
    assert (first["topic"], first["client_id"], first["qos"], first["partition"]) == (
        "spectrum/d1/readings", "publisher", 1, partition,
    )  # fmt: skip
    assert first["appended_at"] is not None
    assert first["ingress_at"] is not None
    assert first["forwarded_at"] is None
    stream = web.get("/v1/streams/readings").json()
    assert response.headers["lapwing-next-offset"] == "15"
    assert response.headers["lapwing-end-offset"] == "25"
    assert response.headers["lapwing-stream-uuid"] == stream["uuid"]
    assert stream["partitions"][partition]["next_offset"] == 25
    assert sum(p["next_offset"] for p in stream["partitions"]) == 25, "only what the filter matches is kept"


@with_stream
def test_the_end_is_an_empty_table(lapwing_broker: Broker, web: Web, publish: Publish) -> None:
    """Does a read at the end bring the schema without rows, and the same offset to go on from?"""
    assert rows_of(web.get("/v1/streams/readings/0")) == []
    publish(lapwing_broker.url, [("spectrum/d1/readings", b"1")])
    response = web.get(f"/v1/streams/readings/{filled(web)}?from=1")
    assert rows_of(response) == []
    assert response.headers["lapwing-next-offset"] == "1"


@with_stream
def test_bytes_limits_but_never_to_nothing(lapwing_broker: Broker, web: Web, publish: Publish) -> None:
    """Is at least one row given, however small `bytes` is?"""
    publish(lapwing_broker.url, [("spectrum/d1/readings", b"x" * 5_000)] * 4)
    path = f"/v1/streams/readings/{filled(web)}"
    assert len(rows_of(web.get(path, params={"bytes": 1}))) == 1
    assert len(rows_of(web.get(path, params={"bytes": 11_000}))) == 2
    assert len(rows_of(web.get(path))) == 4


@with_stream
def test_readers_are_named_and_forgotten(web: Web) -> None:
    """Is a named reader shown with its place, and gone after DELETE, and the second DELETE a 404?"""
    assert web.get("/v1/streams/readings").json()["readers"] == []
    rows_of(web.get("/v1/streams/readings/1?from=0&reader=spark"))
    (reader,) = web.get("/v1/streams/readings").json()["readers"]
    assert (reader["name"], reader["partitions"]) == ("spark", [{"partition": 1, "next_offset": 0}])
    assert reader["seen_at"].endswith("Z")
    path = f"{web.url}/v1/streams/readings/readers/spark"
    gone = get(path, method="DELETE")
    assert (gone.status_code, gone.content) == (204, b"")
    assert web.get("/v1/streams/readings").json()["readers"] == []
    assert get(path, method="DELETE").json()["error"]["code"] == "reader_unknown"
    unknown = get(f"{web.url}/v1/streams/nothing/readers/spark", method="DELETE")
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (404, "stream_unknown")


@with_stream
def test_a_reader_is_not_moved_by_headers_alone(web: Web) -> None:
    """HEAD gives out no message: nobody has read anything, and no name takes a place."""
    head = get(f"{web.url}/v1/streams/readings/1?from=0&reader=headed", method="HEAD")
    assert (head.status_code, head.content) == (200, b"")
    assert "headed" not in [reader["name"] for reader in web.get("/v1/streams/readings").json()["readers"]]
    assert get(f"{web.url}/v1/streams/readings/1?reader=", method="HEAD").status_code == 400


@with_stream
def test_the_65th_reader_finds_room_when_one_is_forgotten(web: Web) -> None:
    """Does the refusal name a way out, and does it work?"""
    for number in range(64):
        rows_of(web.get(f"/v1/streams/readings/0?from=0&reader=r{number}"))
    refused = web.get("/v1/streams/readings/0?from=0&reader=one-more")
    assert refused.status_code == 400
    assert "lapwing stream forget" in refused.json()["error"]["message"]
    assert get(f"{web.url}/v1/streams/readings/readers/r7", method="DELETE").status_code == 204
    rows_of(web.get("/v1/streams/readings/0?from=0&reader=one-more"))


REFUSALS = [
    ("/v1/streams/nothing", 404, "stream_unknown", {"streams": ["readings"]}),
    ("/v1/streams/nothing/0", 404, "stream_unknown", {"streams": ["readings"]}),
    ("/v1/streams/readings/2", 404, "partition_unknown", {}),
    ("/v1/streams/readings/x", 404, "partition_unknown", {}),
    ("/v1/streams/readings/-1", 404, "partition_unknown", {}),
    ("/v1/streams/readings/0?from=1", 416, "offset_ahead", {"next_offset": 0}),
    ("/v1/streams/readings/0?from=-1", 400, "bad_parameter", {"parameter": "from"}),
    ("/v1/streams/readings/0?from=%F0%9D%9F%99", 400, "bad_parameter", {"parameter": "from"}),
    ("/v1/streams/readings/0?limit=0", 400, "bad_parameter", {"parameter": "limit"}),
    (
        "/v1/streams/readings/0?limit=1000001",
        400,
        "bad_parameter",
        {"parameter": "limit", "value": "1000001"},
    ),
    ("/v1/streams/readings/0?bytes=67108865", 400, "bad_parameter", {"parameter": "bytes"}),
    ("/v1/streams/readings/0?reader=", 400, "bad_parameter", {"parameter": "reader"}),
    ("/v1/streams/readings/0?frm=0", 400, "bad_parameter", {"parameter": "frm"}),
    ("/v1/streams/readings/0?from=0&from=1", 400, "bad_parameter", {"parameter": "from"}),
    ("/nowhere", 404, "not_found", {}),
    ("/v1/streams/", 404, "not_found", {}),
    ("/", 404, "not_found", {}),
]


@with_stream
def test_refusals(web: Web) -> None:
    """Has each wrong request its status, its code, its evidence and a remedy, in JSON?"""
    for path, status, code, evidence in REFUSALS:
        response = web.get(path)
        assert (path, response.status_code) == (path, status)
        error = response.json()["error"]
        assert error["code"] == code, path
        assert error["message"], path
        assert error["remedy"], path
        assert {name: error.get(name) for name in evidence} == evidence, path


@with_stream
def test_methods_and_bodies(web: Web) -> None:
    """Is HEAD answered like GET without its body, other methods and requests with bodies refused?"""
    whole, head = web.get("/v1/streams/readings/0"), get(f"{web.url}/v1/streams/readings/0", method="HEAD")
    assert head.status_code == 200
    assert head.content == b""
    assert head.headers["content-length"] == whole.headers["content-length"]
    assert get(f"{web.url}/healthz", method="HEAD").status_code == 200
    refused = get(f"{web.url}/v1/streams", method="POST")
    assert (refused.status_code, refused.json()["error"]["code"]) == (405, "method_not_allowed")
    assert refused.headers["allow"]
    refused = get(f"{web.url}/v1/streams", content=b"x" * 100_000)
    assert (refused.status_code, refused.json()["error"]["code"]) == (413, "body_not_expected")


@with_stream
def test_a_head_without_end_is_cut_off(lapwing_broker: Broker) -> None:
    """Is a request whose head grows for ever refused before it costs more than its limit?"""
    host, _, port = lapwing_broker.http_url.removeprefix("http://").rpartition(":")
    with socket.create_connection((host, int(port)), timeout=30) as peer:
        peer.sendall(b"GET / HTTP/1.1\r\n")
        answer = b""
        try:
            for _ in range(64):
                peer.sendall(b"x-more: " + b"x" * 4_000 + b"\r\n")
            answer = peer.recv(1_000)
        except ConnectionError:
            return
        assert answer.startswith(b"HTTP/1.1 400")


@with_stream
def test_health_and_metrics(web: Web) -> None:
    """Do the probes answer, and does /metrics count both sides in Prometheus' format?"""
    assert web.get("/healthz").json() == {"status": "alive"}
    assert web.get("/readyz").json() == {"status": "ready"}
    web.get("/nowhere")
    response = web.get("/metrics")
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    samples = dict(line.rsplit(" ", 1) for line in response.text.splitlines() if not line.startswith("#"))
    assert samples['lapwing_http_requests_total{route="/readyz",status="200"}'] == "1"
    assert samples['lapwing_http_requests_total{route="unknown",status="404"}'] == "1"
    names = {name.partition("{")[0] for name in samples}
    helped = {line.split()[2] for line in response.text.splitlines() if line.startswith("# HELP")}
    assert {name for name in names if not name.startswith("lapwing_")} == set()
    assert {name for name in names if name not in helped and name.rsplit("_", 1)[0] not in helped} == set()


def test_reads_beyond_the_limit_are_refused(publish: Publish, tmp_path: Any) -> None:
    """Is the read that would be one too many told to come again, and counted, the others undisturbed?"""
    config = Config(
        broker={"listen": "tcp://127.0.0.1:0", "http": "127.0.0.1:0", "data": tmp_path, "pin": False},
        http={"reads_max": 1},
        streams={"all": {"filter": "#"}},
    )
    with Broker.from_config(config) as broker:
        publish(broker.url, [("t", b"x" * 100_000)] * 100)
        url = f"{broker.http_url}/v1/streams/all/0"
        assert len(rows_of(get(url))) > 50
        statuses: list[Response] = []
        readers = [threading.Thread(target=lambda: statuses.append(get(url))) for _ in range(16)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
        refused = [response for response in statuses if response.status_code != 200]
        assert any(response.status_code == 200 for response in statuses)
        assert refused, "16 readers at once, and one place"
        assert all(response.status_code == 503 for response in refused)
        assert all(response.headers["retry-after"] == "1" for response in refused)
        assert refused[0].json()["error"]["code"] == "too_many_reads"
        metrics = get(f"{broker.http_url}/metrics").text
        assert f"lapwing_http_reads_refused_total {len(refused)}\n" in metrics


def test_trimmed_offsets_are_gone(publish: Publish, tmp_path: Any) -> None:
    """Does a read of what retention has deleted say 410, with the first offset left?"""
    small = {"filter": "#", "retain_bytes": "256KiB", "segment_bytes": "64KiB"}
    with Broker(streams={"all": small}, http="127.0.0.1:0", data=tmp_path) as broker:
        publish(broker.url, [("t", b"x" * 10_000)] * 200)
        web = Web(broker.http_url)
        first = poll_until_trimmed(web)
        error = web.get("/v1/streams/all/0?from=0")
        assert error.status_code == 410
        assert error.json()["error"]["code"] == "offset_trimmed"
        assert error.json()["error"]["first_offset"] >= first
        assert error.json()["error"]["next_offset"] == 200


def poll_until_trimmed(web: Web, deadline_s: float = 30) -> int:
    waited = threading.Event()
    for _ in range(int(deadline_s / 0.05)):
        first: int = web.get("/v1/streams/all").json()["partitions"][0]["first_offset"]
        if first > 0:
            return first
        waited.wait(0.05)
    raise AssertionError("nothing was trimmed")


@with_stream
def test_a_slow_reader_is_cut_off(publish: Publish, tmp_path: Any) -> None:
    """Does a reader that takes nothing give up its place, counted, and its connection?"""
    config = Config(
        broker={"listen": "tcp://127.0.0.1:0", "http": "127.0.0.1:0", "data": tmp_path, "pin": False},
        http={"write_timeout": "500ms"},
        streams={"all": {"filter": "#"}},
    )
    with Broker.from_config(config) as broker:
        publish(broker.url, [("t", b"x" * 500_000)] * 60)
        host, _, port = broker.http_url.removeprefix("http://").rpartition(":")
        peer = socket.socket()
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        peer.connect((host, int(port)))
        peer.sendall(b"GET /v1/streams/all/0?bytes=67108864 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        poll_metric(broker, "lapwing_http_slow_readers_total 1")
        peer.close()


def poll(is_so: Callable[[], bool], what: str, deadline_s: float = 30) -> None:
    waited = threading.Event()
    for _ in range(int(deadline_s / 0.05)):
        if is_so():
            return
        waited.wait(0.05)
    raise AssertionError(what)


def poll_metric(broker: Broker, line: str) -> None:
    poll(lambda: f"{line}\n" in get(f"{broker.http_url}/metrics").text, f"never saw {line!r}")


def limited(folder: Path, keep_alive: str) -> Broker:
    """A broker with four places at its HTTP side."""
    section = {"listen": "tcp://127.0.0.1:0", "http": "127.0.0.1:0", "data": folder, "pin": False}
    return Broker.from_config(Config(broker=section, http={"connections_max": 4, "keep_alive": keep_alive}))


def silent_peers(broker: Broker) -> list[socket.socket]:
    """Four that take the places, and say nothing, or half a request."""
    silent = [one_more(broker) for _ in range(4)]
    silent[-1].sendall(b"GET /healthz HTTP/1.1\r\nHost:")
    return silent


def one_more(broker: Broker) -> socket.socket:
    host, _, port = broker.http_url.removeprefix("http://").rpartition(":")
    return socket.create_connection((host, int(port)), timeout=30)


def test_connections_are_limited(tmp_path: Path) -> None:
    """Does one who asks for something get the place of one who has waited longest, who is told so?"""
    with limited(tmp_path, "10m") as broker:
        silent = silent_peers(broker)
        assert get(f"{broker.http_url}/v1/streams").status_code == 200
        answer = silent[0].makefile("rb").read()
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"too_many_connections" in answer
        assert b"\r\nretry-after: 1\r\n" in answer
        for peer in silent[1:]:
            peer.setblocking(False)
            with pytest.raises(BlockingIOError):
                peer.recv(1)
            peer.close()


def test_silent_connections_are_closed(tmp_path: Path) -> None:
    """Does a peer that says nothing, or half a request, lose its place in time, counted?"""
    with limited(tmp_path, "1s") as broker:
        for peer in silent_peers(broker):
            assert closed(peer)
        poll_metric(broker, "lapwing_http_connections_late_total 4")


def closed(peer: socket.socket) -> bool:
    """Whether the other side ends the connection, in whatever way, without an answer."""
    try:
        return peer.recv(1) == b""
    except ConnectionError:
        return True
