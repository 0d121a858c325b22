"""Readings that keep the contract and cannot be what their serial says, as rows for the quarantine."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from lapwing.contracts.reading import READING, VERSION
from lapwing.contracts.rules import SERIAL_JUMP, SERIAL_REUSED
from lapwing.pipeline.transforms.parse import PARSED

_SCHEMA = PARSED.arrow_schema()


def misplaced(classified: pa.Table) -> pa.Table:
    """Rows of ``PARSED`` with a reason, and the reading as JSON in ``payload``.

    What a device sent is not carried along for every reading; all that the contract knows of it is.

    Args:
        classified: Rows of `lapwing.pipeline.transforms.repeats.classify`.
    """
    found = classified.filter(
        pc.and_(classified["reason"].is_null(), pc.or_(classified["reused"], classified["jumped"]))
    )
    reasons = [SERIAL_JUMP if jumped else SERIAL_REUSED for jumped in found["jumped"].to_pylist()]
    payloads = [_payload(row) for row in found.select(READING.names).to_pylist()]
    said = {"reason": reasons, "field": ["serial"] * len(reasons)}
    columns = [
        pa.array(said[name], pa.string())
        if name in said
        else pa.array(payloads, pa.binary())
        if name == "payload"
        else found[name].combine_chunks()
        for name in _SCHEMA.names
    ]
    return pa.Table.from_arrays(columns, schema=_SCHEMA)


def _payload(row: dict[str, Any]) -> bytes:
    known = {name: _value(value) for name, value in row.items() if value is not None}
    return json.dumps({"v": VERSION, **known}, separators=(",", ":"), ensure_ascii=False).encode()


def _value(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    return value
