"""Records as Spark's Kafka source gives them -> the columns of ``CARRIED``, by `lapwing.contracts.kafka_envelope`.

It says of a batch what `read_envelope` says of one record, a column at a time: much cheaper per row. Where a
header is absent or no such value, the default stands:

    topic            the Kafka topic          client_id   the record's key as text, else empty
    qos, retain      0, false                 ingress_at  the record's own time
    message_id       null
    appended_at      the record's own time where the topic has ``message.timestamp.type=LogAppendTime``;
                     else the time at which the bridge forwarded it; else the record's own time

A record without a value (a tombstone) has an empty payload.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lapwing.contracts import kafka_record as names
from lapwing.contracts.envelope import CARRIED, ENVELOPE
from lapwing.contracts.kafka_envelope import CLOCK_US_MAX, property_name

KAFKA_COLUMNS = ("key", "value", "partition", "offset", "timestamp", "timestampType", "headers")
"""Of Spark's source, in this order."""

_SCHEMA = CARRIED.arrow_schema()
_TIME = pa.timestamp("us", "UTC")
_LOG_APPEND_TIME = 1


def envelopes(records: pa.RecordBatch, topic: str) -> pa.RecordBatch:
    """Rows of ``CARRIED`` with a null ``observed_at``.

    Args:
        records: `KAFKA_COLUMNS`.
        topic: The Kafka topic.
    """
    headers = _Headers(records.column("headers"))
    own_time = _own_time(records.column("timestamp"))
    ingress = pc.coalesce(_clock(headers.text(names.INGRESS_US)), own_time)
    forwarded = _clock(headers.text(names.FORWARDED_US))
    by_log = pc.fill_null(pc.equal(records.column("timestampType"), _LOG_APPEND_TIME), False)
    columns = {
        "topic": _or_else(headers.text(names.TOPIC), pa.scalar(topic)),
        "payload": pc.fill_null(records.column("value"), b""),
        "client_id": _or_else(_or_else(headers.text(names.CLIENT), _text(records.column("key"))), pa.scalar("")),
        "qos": _qos(headers.text(names.QOS)),
        "retain": pc.fill_null(pc.equal(headers.text(names.RETAIN), "1"), False),
        "user_properties": headers.properties(),
        "partition": records.column("partition"),
        "offset": records.column("offset"),
        "sent_at": _clock(headers.text(names.SENT_AT_US)),
        "ingress_at": ingress,
        "appended_at": pc.if_else(by_log, own_time, pc.coalesce(forwarded, own_time)),
        "forwarded_at": forwarded,
        "observed_at": pa.nulls(records.num_rows, _TIME),
        "message_id": _message_id(headers.text(names.MESSAGE_ID)),
    }
    return pa.RecordBatch.from_arrays([columns[field.name].cast(field.type) for field in _SCHEMA], schema=_SCHEMA)


class _Headers:
    """The headers of all records in one list, each with the row that it belongs to."""

    def __init__(self, column: pa.ListArray) -> None:
        self._rows = len(column)
        said, self._values = pc.list_flatten(column).flatten()
        self._row: npt.NDArray[np.int64] = pc.list_parent_indices(column).to_numpy().astype(np.int64)
        encoded = said.cast(pa.string()).dictionary_encode()
        self._code = encoded.indices.to_numpy(zero_copy_only=False)
        self._codes = {name: code for code, name in enumerate(encoded.dictionary.to_pylist())}

    def text(self, name: str) -> pa.Array:
        """Per record the first header of that name as text; null where it is absent or no text."""
        at = np.full(self._rows, -1, dtype=np.int64)
        if name in self._codes:
            # Backwards, so that the first one is written last, and stays.
            found = np.flatnonzero(self._code == self._codes[name])[::-1]
            at[self._row[found]] = found
        return _text(self._values.take(pa.array(at, mask=at < 0)))

    def properties(self) -> pa.Array:
        """Per record its user properties, in order."""
        kind = ENVELOPE["user_properties"].arrow_type()
        called = [property_name(header) for header in self._codes]
        at = np.flatnonzero(np.array([name is not None for name in called], dtype=bool)[self._code])
        texts = _text(self._values.take(pa.array(at)))
        known = texts.is_valid().to_numpy(zero_copy_only=False)
        at, texts = at[known], texts.drop_null()
        of = pa.array(called, pa.string()).take(pa.array(self._code[at]))
        ends = np.cumsum(np.bincount(self._row[at], minlength=self._rows))
        offsets = pa.array(np.concatenate(([0], ends)).astype(np.int32))
        pairs = pa.StructArray.from_arrays([of, texts], fields=list(kind.value_type))
        return pa.ListArray.from_arrays(offsets, pairs, type=kind)


def _own_time(stamps: pa.Array) -> pa.Array:
    us = pc.fill_null(stamps.cast(_TIME).cast(pa.int64()), 0)
    # -1 ms says that a producer of old gave none.
    return pc.min_element_wise(pc.max_element_wise(us, 0), CLOCK_US_MAX).cast(_TIME)


def _clock(texts: pa.Array) -> pa.Array:
    whole = pc.fill_null(pc.match_substring_regex(texts, "^[0-9]{1,18}$"), False)
    us = pc.if_else(whole, texts, pa.scalar(None, pa.string())).cast(pa.int64())
    return pc.if_else(pc.less_equal(us, CLOCK_US_MAX), us, pa.scalar(None, pa.int64())).cast(_TIME)


def _qos(texts: pa.Array) -> pa.Array:
    known = pc.is_in(texts, value_set=pa.array(["0", "1", "2"]))
    return pc.if_else(known, texts, "0").cast(pa.int8())


def _message_id(texts: pa.Array) -> pa.Array:
    chars = pc.utf8_length(texts)
    known = pc.and_(pc.greater(chars, 0), pc.less_equal(chars, names.MESSAGE_ID_CHARS_MAX))
    return pc.if_else(known, texts, pa.scalar(None, pa.string()))


def _or_else(texts: pa.Array, default: Any) -> pa.Array:
    """``texts``, with ``default`` where it is null or empty."""
    return pc.if_else(pc.fill_null(pc.equal(texts, ""), True), default, texts)


def _text(values: pa.Array) -> pa.Array:
    """Bytes as text; null where they are no UTF-8."""
    try:
        return values.cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([_decoded(value) for value in values.to_pylist()], pa.string())


def _decoded(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None
