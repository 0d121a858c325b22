"""What a stream holds."""

from __future__ import annotations

import pyarrow as pa
from web import get


def published(http: str) -> list[bytes]:
    """Payloads of the one partition of the stream `all`, in the order of their offsets."""
    found: list[bytes] = []
    (partition,) = get(f"{http}/v1/streams/all").json()["partitions"]
    offset = partition["first_offset"]
    while offset < partition["next_offset"]:
        response = get(f"{http}/v1/streams/all/0", params={"from": offset})
        batch = pa.ipc.open_stream(response.content).read_all()
        found += batch.column("payload").to_pylist()
        offset += batch.num_rows
    return found
