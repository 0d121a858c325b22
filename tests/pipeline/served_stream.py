"""A broker's HTTP stream interface, served from Arrow tables in memory: for tests and benchmarks of the pipeline.

Keeps the wire contract (positions, limits, 404, 410, 416, UUID), so that the pipeline can be tested without a broker;
`tests/pipeline` runs the same job against a real broker too.
"""

from __future__ import annotations

import json
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pyarrow as pa

from lapwing.contracts.envelope import ENVELOPE

SCHEMA = ENVELOPE.arrow_schema()


class Partition:
    """Messages of one partition: record batches of consecutive offsets."""

    def __init__(self) -> None:
        self.first_offset = 0
        self.next_offset = 0
        self.batches: list[tuple[int, pa.RecordBatch]] = []

    def append(self, batch: pa.RecordBatch) -> None:
        self.batches.append((self.next_offset, batch))
        self.next_offset += batch.num_rows

    def read(self, start: int, rows_max: int) -> list[pa.RecordBatch]:
        end = min(self.next_offset, start + rows_max)
        found = []
        for first, batch in self.batches:
            a, b = max(start, first), min(end, first + batch.num_rows)
            if b > a:
                found.append(batch.slice(a - first, b - a))
        return found


class ServedStream:
    """One stream; `url` is what the pipeline is given. With `authorization` it answers 401 to other headers."""

    def __init__(self, partitions: int = 1, name: str = "readings", authorization: set[str] | None = None) -> None:
        self.name = name
        self.authorization = authorization
        self.uuid = str(uuid.uuid4())
        self.partitions = [Partition() for _ in range(partitions)]
        self.requests: list[str] = []
        self.lock = threading.Lock()
        stream = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                with stream.lock:
                    if stream.authorization and self.headers["Authorization"] not in stream.authorization:
                        status, headers, body = _error(401, "unauthenticated", "the credentials are not valid")
                    else:
                        status, headers, body = stream.answer(self.path)
                self.send_response(status)
                for key, value in {**headers, "Content-Length": str(len(body))}.items():
                    self.send_header(key, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/v1/streams/{self.name}"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def append(self, partition: int, table: pa.Table | pa.RecordBatch) -> None:
        """Appends messages; `partition` and `offset` are set here, as a broker does."""
        held = self.partitions[partition]
        batches = [table] if isinstance(table, pa.RecordBatch) else table.combine_chunks().to_batches()
        with self.lock:
            for batch in batches:
                held.append(_placed(batch, partition, held.next_offset))

    def trim(self, partition: int, first_offset: int) -> None:
        with self.lock:
            self.partitions[partition].first_offset = first_offset

    def recreate(self) -> None:
        with self.lock:
            self.uuid = str(uuid.uuid4())
            self.partitions = [Partition() for _ in self.partitions]

    def answer(self, target: str) -> tuple[int, dict[str, str], bytes]:
        parts = urlsplit(target)
        self.requests.append(target)
        path = parts.path.removeprefix("/v1/streams/").split("/")
        if path[0] != self.name:
            return _error(404, "stream_unknown", f"no stream is called {path[0]!r}: there is {self.name}")
        if len(path) == 1:
            held = [
                {"partition": i, "first_offset": p.first_offset, "next_offset": p.next_offset, "bytes": 0}
                for i, p in enumerate(self.partitions)
            ]
            told = {"name": self.name, "uuid": self.uuid, "filter": "#", "key": "client", "partitions": held}
            return 200, {"Content-Type": "application/json"}, json.dumps(told).encode()
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        return self._slice(int(path[1]), int(query["from"]), int(query.get("limit", 10_000)))

    def _slice(self, number: int, start: int, limit: int) -> tuple[int, dict[str, str], bytes]:
        if number >= len(self.partitions):
            return _error(404, "partition_unknown", f"stream {self.name} has no partition {number}")
        held = self.partitions[number]
        evidence = {"first_offset": held.first_offset, "next_offset": held.next_offset}
        if start < held.first_offset:
            return _error(410, "offset_trimmed", f"offset {start} has been trimmed", **evidence)
        if start > held.next_offset:
            return _error(416, "offset_ahead", f"offset {start} is not written yet", **evidence)
        batches = held.read(start, limit)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, SCHEMA) as writer:
            for batch in batches:
                writer.write_batch(batch)
        headers = {
            "Content-Type": "application/vnd.apache.arrow.stream",
            "Lapwing-Next-Offset": str(start + sum(batch.num_rows for batch in batches)),
            "Lapwing-End-Offset": str(held.next_offset),
            "Lapwing-Stream-Uuid": self.uuid,
        }
        return 200, headers, sink.getvalue().to_pybytes()


def _placed(batch: pa.RecordBatch, partition: int, first: int) -> pa.RecordBatch:
    columns = {name: batch.column(name) for name in ENVELOPE.names if name in batch.schema.names}
    columns["partition"] = pa.array([partition] * batch.num_rows, pa.int32())
    columns["offset"] = pa.array(range(first, first + batch.num_rows), pa.int64())
    return pa.RecordBatch.from_arrays([columns[name] for name in ENVELOPE.names], schema=SCHEMA)


def _error(status: int, code: str, message: str, **evidence: int) -> tuple[int, dict[str, str], bytes]:
    told = {"error": {"code": code, "message": message, "remedy": "look at /v1/streams", **evidence}}
    return status, {"Content-Type": "application/json"}, json.dumps(told).encode()
