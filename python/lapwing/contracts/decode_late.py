"""Messages of a stream -> misses and dead letters, by their contracts; whatever is neither gets its reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec

from lapwing.contracts import late
from lapwing.contracts.fields import Field, Record

_PYTHON: dict[str, type] = {"string": str, "int64": int, "float64": float}
_REFUSALS = (msgspec.MsgspecError, ValueError, RecursionError)  # ValueError: bad UTF-8 within a known member

REASONS = {
    "not_a_miss": "no `lapwing-reason` among the user properties, and the payload is no miss: not JSON, or a member is"
    " absent, of another type or out of range",
    "not_a_dead_letter": "a `lapwing-reason`, but another of the four properties is absent or out of range",
}
"""Why a message is in `quarantine`."""


def _annotation(field: Field) -> Any:
    if field.name == "lane":
        return Literal[late.LANES]
    if field.kind == "string":
        meta = msgspec.Meta(min_length=int(field.low or 0), max_length=int(field.high or 0))
    else:
        meta = msgspec.Meta(ge=field.low, le=field.high)
    known: Any = Annotated.__class_getitem__((_PYTHON[field.kind], meta))  # type: ignore[attr-defined]
    return known | None if field.nullable else known


def _struct(record: Record, name: str) -> Any:
    required = [(field.name, _annotation(field)) for field in record if not field.nullable]
    optional = [(field.name, _annotation(field), None) for field in record if field.nullable]
    return msgspec.defstruct(name, [*required, *optional], gc=False)


_MISSES: msgspec.json.Decoder[Any] = msgspec.json.Decoder(_struct(late.MISS, "Miss"))
_DEAD_LETTER = _struct(late.DEAD_LETTER, "DeadLetter")
_PROPERTIES = {late.property_name(field): field.name for field in late.DEAD_LETTER}


def decode_miss(payload: bytes) -> Any | None:
    """The miss that ``payload`` says, with the members of `MISS` as attributes; None where it breaks the contract."""
    try:
        payload.decode()  # also in members that nobody knows
        return _MISSES.decode(payload)
    except _REFUSALS:
        return None


def is_dead_letter(properties: Sequence[dict[str, str]]) -> bool:
    """Whether the broker (or who plays it) has marked the message as one."""
    return any(each["name"] == late.REASON_PROPERTY for each in properties)


def decode_dead_letter(properties: Sequence[dict[str, str]]) -> Any | None:
    """The dead letter that user properties say; None where they break the contract."""
    said = {_PROPERTIES[each["name"]]: each["value"] for each in properties if each["name"] in _PROPERTIES}
    try:
        return msgspec.convert(said, _DEAD_LETTER, strict=False)
    except _REFUSALS:
        return None
