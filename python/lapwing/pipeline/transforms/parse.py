"""Envelope -> parsed rows: the reading's columns, or why there are none."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from lapwing.contracts.decode import DECODED, decode_readings
from lapwing.contracts.envelope import CARRIED, ENVELOPE
from lapwing.contracts.fields import Field, Record

_CARRIED = ("topic", "client_id")
_KEPT = ("ingress_at", "appended_at", "forwarded_at", "observed_at", "partition", "offset")
_EVIDENCE = ("payload", "message_id")

PARSED = Record(
    "parsed message",
    1,
    (
        *DECODED.fields,
        *(Field(name, CARRIED[name].kind, CARRIED[name].meaning, nullable=True) for name in _CARRIED),
        *(
            Field(name, CARRIED[name].kind, "null where the payload keeps the contract", nullable=True)
            for name in _EVIDENCE
        ),
        *(ENVELOPE[name] for name in _KEPT),
    ),
)
"""One row per message. What it said is carried only for payloads that are refused: 330 bytes a row less to move."""

_SCHEMA = PARSED.arrow_schema()


def parse_batch(envelope: pa.RecordBatch) -> pa.RecordBatch:
    """Decodes the payloads of a batch with the columns of the envelope; in order, none left out.

    ``message_id`` may be missing, and is null then.
    """
    decoded = decode_readings(envelope.column("payload"))
    valid = decoded.column("reason").is_null()
    evidence = [_only_refused(_column(envelope, name), valid) for name in _EVIDENCE]
    carried, kept = ([envelope.column(name) for name in names] for names in (_CARRIED, _KEPT))
    return pa.RecordBatch.from_arrays([*decoded.columns, *carried, *evidence, *kept], schema=_SCHEMA)


def _column(envelope: pa.RecordBatch, name: str) -> pa.Array:
    there = name in envelope.schema.names
    return envelope.column(name) if there else pa.nulls(envelope.num_rows, CARRIED[name].arrow_type())


def _only_refused(column: pa.Array, valid: pa.Array) -> pa.Array:
    if valid.true_count == len(valid):
        return pa.nulls(len(column), column.type)
    return pc.if_else(valid, pa.scalar(None, column.type), column)


def parse(envelopes: DataFrame) -> DataFrame:
    """Decodes payloads that come from any source with the columns of the envelope (Kafka, files).

    The broker's own source does the same with ``option("decode", "reading")``, without the way to Python and back.
    """

    known = [name for name in CARRIED.names if name in ENVELOPE.names or name in envelopes.columns]

    def decode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return (parse_batch(batch.select(known)) for batch in batches)

    return envelopes.select(known).mapInArrow(decode, PARSED.spark_schema())


def observed(parsed: DataFrame) -> DataFrame:
    """Stamps ``observed_at`` with the batch's time, which Spark pins in the checkpoint: a replay says the same.

    Call it on the streaming DataFrame; within ``foreachBatch`` the time would be that of the replay.
    """
    return parsed.withColumn("observed_at", F.current_timestamp())
