"""Payloads -> columns of readings, by the contract and nothing but the contract.

One pass decodes with a typed, strict JSON decoder made from the field table; column checks add what a decoder
cannot ask (UTF-8 in members nobody knows, ranges of times, half a position). Whatever is refused gets its
reason from `rules`. Measured on one core: 3 us a reading, as fast as a columnar JSON reader whose every
leniency would have to be found out afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from operator import attrgetter
from typing import Annotated, Any, Literal

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from lapwing.contracts import rules
from lapwing.contracts.fields import Field, Record
from lapwing.contracts.reading import READING, RSRP_UNKNOWN_DBM, VERSION
from lapwing.contracts.technologies import technology_of

NOTES = Field("notes", "string", "optional members that became null, and why, as `snr_db out_of_range`", nullable=True)
"""A bad optional member does not cost the reading."""

DECODED = Record(
    "decoded reading",
    VERSION,
    (
        *(Field(f.name, f.kind, f.meaning, f.unit, nullable=True) for f in READING),
        Field("reason", "string", "why the payload was refused; null: it was not", nullable=True),
        Field("field", "string", "the member to blame", nullable=True),
        NOTES,
    ),
)
"""A reading's columns; where ``reason`` is set all null but device, boot and serial, if they could be read."""

_PYTHON: dict[str, type] = {"string": str, "int32": int, "int64": int, "float64": float, "time": datetime}


def _annotation(field: Field) -> Any:
    if field.kind == "string":
        meta = msgspec.Meta(min_length=_whole(field.low), max_length=_whole(field.high))
    elif field.kind == "time":
        meta = msgspec.Meta(tz=True)
    else:
        meta = msgspec.Meta(ge=field.low, le=field.high)
    python = float if field.fractional else _PYTHON[field.kind]
    known: Any = Annotated.__class_getitem__((python, meta))  # type: ignore[attr-defined]
    return known | None if field.nullable else known


def _whole(limit: float | None) -> int | None:
    return None if limit is None else int(limit)


_REQUIRED = [(f.name, _annotation(f)) for f in READING if not f.nullable]
_OPTIONAL = [(f.name, _annotation(f), None) for f in READING if f.nullable]
_STRUCT = msgspec.defstruct("Reading", [*_REQUIRED, *_OPTIONAL, ("v", Literal[1], 1)], gc=False)
_DECODER: msgspec.json.Decoder[Any] = msgspec.json.Decoder(_STRUCT)
_VALUES = attrgetter(*READING.names)
_BLANK = (None,) * len(READING.names)
_NAMED = 3
"""The first columns say who sent which reading: device, boot, serial."""
_REFUSALS = (msgspec.MsgspecError, ValueError, RecursionError)  # ValueError: bad UTF-8 within a known member


def decode_readings(payloads: pa.Array) -> pa.RecordBatch:
    """Decodes JSON payloads.

    Args:
        payloads: Binary, no nulls.

    Returns:
        One row per payload, in order, with the columns of `DECODED`.
    """
    raws: Sequence[bytes] = payloads.to_pylist()
    rows = []
    refused: set[int] = set()
    notes: dict[int, list[str]] = {}
    for index, raw in enumerate(raws):
        try:
            rows.append(_VALUES(_DECODER.decode(raw)))
        except _REFUSALS:
            rows.append(_mended(raw, index, refused, notes))
    columns = _columns(rows)
    late = (_not_utf8(payloads, raws) | _outside(columns)) - refused
    if late:
        for index in late:
            rows[index] = _mended(raws[index], index, refused, notes)
        columns = _columns(rows)
    columns["rsrp_dbm"] = _rounded(_known_rsrp(columns, notes), READING["rsrp_dbm"])
    reasons = _reasons(raws, refused)
    told = pa.array([", ".join(notes[i]) if i in notes else None for i in range(len(raws))], pa.string())
    noted = told if notes else pa.nulls(len(raws), pa.string())
    return pa.RecordBatch.from_arrays([*columns.values(), *reasons, noted], schema=DECODED.arrow_schema())


def _mended(raw: bytes, index: int, refused: set[int], notes: dict[int, list[str]]) -> tuple[Any, ...]:
    """The row of a payload that is not as it should be: without the optional members that are wrong, or refused."""
    found = rules.mended(raw)
    if found is not None:
        clean, told = found
        try:
            row: tuple[Any, ...] = _VALUES(_DECODER.decode(clean))
        except _REFUSALS:
            pass
        else:
            if told:
                notes[index] = [", ".join(told)]
            return row
    refused.add(index)
    return _who(raw)


def _who(raw: bytes) -> tuple[Any, ...]:
    """The row of a refused payload: who sent which reading, where that much can be read."""
    return (*(rules.readable_serial(raw) or _BLANK[:_NAMED]), *_BLANK[_NAMED:])


def _columns(rows: list[tuple[Any, ...]]) -> dict[str, pa.Array]:
    values = zip(*rows, strict=True) if rows else ([] for _ in READING)
    return {f.name: _column(f, column) for f, column in zip(READING, values, strict=True)}


def _column(field: Field, values: Any) -> pa.Array:
    """Fractions as they were said: their range is asked of these, not of what they are rounded to."""
    return pa.array(values, pa.float64() if field.fractional else field.arrow_type())


def _rounded(column: pa.Array, field: Field) -> pa.Array:
    return pc.round(column, round_mode="half_towards_infinity").cast(field.arrow_type())


def _not_utf8(payloads: pa.Array, raws: Sequence[bytes]) -> set[int]:
    try:
        payloads.cast(pa.string())
    except pa.ArrowInvalid:
        return {index for index, raw in enumerate(raws) if rules.Payload(raw).text is None}
    return set()


def _outside(columns: dict[str, pa.Array]) -> set[int]:
    wrong = pc.xor(columns["lat"].is_null(), columns["lon"].is_null())
    for field in READING:
        if field.kind == "time":
            us = columns[field.name].cast(pa.int64())
            outside = pc.or_(pc.less(us, _whole(field.low)), pc.greater(us, _whole(field.high)))
            wrong = pc.or_(wrong, outside.fill_null(False))
    return set(pc.indices_nonzero(wrong).to_pylist()) if pc.any(wrong).as_py() else set()


def _known_rsrp(columns: dict[str, pa.Array], notes: dict[int, list[str]]) -> pa.Array:
    """RSRP where it is known, and where the network's technology can have it."""
    rsrp = columns["rsrp_dbm"]
    rsrp = pc.if_else(pc.equal(rsrp, RSRP_UNKNOWN_DBM), pa.scalar(None, rsrp.type), rsrp)
    networks = columns["network"].dictionary_encode()
    names = [technology_of(name) for name in networks.dictionary.to_pylist()]
    any_low = RSRP_UNKNOWN_DBM + 1  # between the two nothing can be told from "unknown" once it is rounded
    low = pa.array([each.low if each else any_low for each in names], pa.float64()).take(networks.indices)
    high = pa.array([each.high if each else None for each in names], pa.float64()).take(networks.indices)
    low, high = low.fill_null(any_low), high.fill_null(float("inf"))
    outside = pc.or_(pc.less(rsrp, low), pc.greater(rsrp, high)).fill_null(False)
    for index in pc.indices_nonzero(outside).to_pylist():
        notes.setdefault(index, []).append("rsrp_dbm out_of_range")
    return pc.if_else(outside, pa.scalar(None, rsrp.type), rsrp)


def _reasons(raws: Sequence[bytes], refused: set[int]) -> tuple[pa.Array, pa.Array]:
    if not refused:
        nulls = pa.nulls(len(raws), pa.string())
        return nulls, nulls
    reasons: list[str | None] = [None] * len(raws)
    fields: list[str | None] = [None] * len(raws)
    for index in refused:
        found = rules.breach(raws[index]) or rules.Breach(rules.REFUSED.reason)
        reasons[index], fields[index] = found.reason, found.field
    return pa.array(reasons, pa.string()), pa.array(fields, pa.string())
