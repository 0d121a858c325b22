"""Rows of `quarantine` of a device that asked to go, though another client brought them: their payload says whose."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
from deltalake import DeltaTable

from lapwing.contracts.rules import readable_device
from lapwing.pipeline.sinks.files import PARQUET
from lapwing.pipeline.sinks.paths import table_files

_AT_ONCE = 1_000
"""So many payloads one statement names: each reads the table once."""


def payload_predicates(table: DeltaTable, folder: Path, devices: Collection[str]) -> Iterator[str]:
    """SQL for all rows whose payload names one of ``devices``: through a gateway, or under another's client id.

    By the payload's digest, for a payload may be long. What is no JSON object names nobody.
    """
    found = sorted(_digests(table, folder, frozenset(devices)))
    for begin in range(0, len(found), _AT_ONCE):
        yield f"encode(sha256(payload), 'hex') IN ({', '.join(map(repr, found[begin : begin + _AT_ONCE]))})"


def _digests(table: DeltaTable, folder: Path, devices: frozenset[str]) -> set[str]:
    paths = [str(path) for path in table_files(table, folder)]
    if not paths:
        return set()
    schema = pa.schema([pa.field("payload", pa.binary())])
    found: set[str] = set()
    for batch in ds.dataset(paths, schema=schema, format=PARQUET).to_batches(columns=["payload"]):
        payloads = (raw for raw in batch["payload"].to_pylist() if raw is not None)
        found |= {sha256(raw).hexdigest() for raw in payloads if readable_device(raw) in devices}
    return found
