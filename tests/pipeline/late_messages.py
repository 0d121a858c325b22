"""Misses and dead letters for tests of the job `deadlines`: envelopes as a broker's stream has them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa
from messages import START, envelopes

from lapwing.contracts.envelope import ENVELOPE


def miss(member: str | None = "m1", lane: str = "bulk", **changes: Any) -> dict[str, Any]:
    """A miss as a dict; late by 50 ms."""
    whole = {
        "group": "alarms", "filter": "alarms/#", "topic": "alarms/1", "client_id": member, "lane": lane,
        "deadline_ms": 250, "took_ms": 300.25, "at_us": 1_767_225_600_000_000,
    }  # fmt: skip
    return whole | changes


def letter(reason: str = "deadline_passed", group: str = "alarms", age_ms: str = "1000") -> dict[str, str]:
    """The properties of a dead letter."""
    return {
        "lapwing-reason": reason,
        "lapwing-group": group,
        "lapwing-topic": "alarms/1",
        "lapwing-age-ms": age_ms,
    }


def late_envelopes(messages: Sequence[Any], *, ingress: datetime = START) -> pa.RecordBatch:
    """Messages: a `miss`, a pair (properties, payload), or bytes as they are."""
    payloads, properties = [], []
    for message in messages:
        pair = message if isinstance(message, tuple) else ({}, message)
        payloads.append(json.dumps(pair[1]).encode() if isinstance(pair[1], dict) else pair[1])
        properties.append([{"name": name, "value": value} for name, value in pair[0].items()])
    batch = envelopes(payloads, ingress=ingress)
    columns = {name: batch.column(name) for name in batch.schema.names}
    columns["user_properties"] = pa.array(properties, ENVELOPE["user_properties"].arrow_type())
    return pa.RecordBatch.from_arrays(list(columns.values()), schema=batch.schema)
