"""Messages of the broker about late work -> misses and dead letters per minute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import pyarrow as pa

from lapwing.contracts.decode_late import decode_dead_letter, decode_miss, is_dead_letter
from lapwing.contracts.late import GROUP_PROPERTY, REASON_PROPERTY
from lapwing.contracts.late_tables import DEAD_LETTERS, LATE_KEYS, MISSES
from lapwing.contracts.tables import QUARANTINE
from lapwing.pipeline.transforms.days import DAY
from lapwing.pipeline.transforms.groups import Groups, made
from lapwing.pipeline.transforms.quality import minutes

_MISSES = pa.schema(list(MISSES.arrow_schema()))
_DEAD_LETTERS = pa.schema(list(DEAD_LETTERS.arrow_schema()))
_QUARANTINE = pa.schema([field for field in QUARANTINE.arrow_schema() if field.name != DAY])
"""The day is added where the rows are written."""
_POSITION = {"partition": pa.int32(), "offset": pa.int64()}
_TOLD_APART = (REASON_PROPERTY, GROUP_PROPERTY)


@dataclass(frozen=True)
class Late:
    """Rows of three tables, one per message; each with the message's ``partition`` and ``offset`` beside them."""

    misses: pa.Table
    dead_letters: pa.Table
    quarantine: pa.Table

    def __getitem__(self, name: str) -> pa.Table:
        found: pa.Table = getattr(self, name)
        return found


def parse_late(envelopes: pa.Table) -> Late:
    """Judges each message: marked with a reason it is a dead letter, else a miss; whatever else has its reason.

    Args:
        envelopes: Rows of ``ENVELOPE`` with ``observed_at``.
    """
    found: dict[str, list[dict[str, Any]]] = {"misses": [], "dead_letters": [], "quarantine": []}
    times = envelopes.set_column(
        envelopes.schema.get_field_index("ingress_at"), "minute", minutes(envelopes["ingress_at"])
    )
    for minute, row in zip(times["minute"].to_pylist(), envelopes.to_pylist(), strict=True):
        name, made_of = _judged(row)
        at = {"minute": minute, "partition": row["partition"], "offset": row["offset"]}
        found[name].append(at | made_of)
    schemas = {"misses": _MISSES, "dead_letters": _DEAD_LETTERS, "quarantine": _QUARANTINE}
    return Late(**{name: pa.Table.from_pylist(rows, _positioned(schemas[name])) for name, rows in found.items()})


def named(carried: pa.Table) -> pa.Table:
    """Rows of ``CARRIED``, with a ``message_id`` that tells dead letters of one message apart, and one for misses.

    A letter has its message's id: one that two groups gave up is two letters, each with the group and the reason that
    the broker has set. A miss is the broker's own message, to which nobody gives an id: it has one of which message,
    in which group and when. What the bridge has carried twice says the same both times.
    """
    at = carried.schema.get_field_index("message_id")
    columns = (carried[name].to_pylist() for name in ("message_id", "user_properties", "payload"))
    names = [
        name + _mark(properties) if name else _name_of_miss(properties, payload)
        for name, properties, payload in zip(*columns, strict=True)
    ]
    return carried.set_column(at, "message_id", pa.array(names, pa.string()))


def _mark(properties: Sequence[dict[str, str]]) -> str:
    """Behind a dead letter's id: short, however long the group's name is."""
    said = {each["name"]: each["value"] for each in properties if each["name"] in _TOLD_APART}
    if REASON_PROPERTY not in said:
        return ""
    text = "\0".join(said.get(name, "") for name in _TOLD_APART)
    return " " + blake2b(text.encode(), digest_size=8).hexdigest()


def _name_of_miss(properties: Sequence[dict[str, str]], payload: bytes) -> str | None:
    """None for what is no miss, or one of a message without an id: then each copy is a message of its own."""
    miss = None if is_dead_letter(properties) else decode_miss(payload)
    if miss is None or not miss.message_id:
        return None
    text = "\0".join((miss.group, miss.filter, miss.message_id, str(miss.at_us)))
    return "miss " + blake2b(text.encode(), digest_size=16).hexdigest()


def _judged(row: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    properties = row["user_properties"]
    if is_dead_letter(properties):
        letter = decode_dead_letter(properties)
        return (
            ("quarantine", _broken(row, "not_a_dead_letter"))
            if letter is None
            else ("dead_letters", _letter(row, letter))
        )
    miss = decode_miss(row["payload"])
    return ("quarantine", _broken(row, "not_a_miss")) if miss is None else ("misses", _miss(miss))


def _miss(miss: Any) -> dict[str, Any]:
    late_ms = max(0, round(miss.took_ms - miss.deadline_ms))
    return {
        "group": miss.group,
        "filter": miss.filter,
        "lane": miss.lane,
        "member": miss.client_id or None,
        "missed": 1,
        "late_ms_sum": late_ms,
        "late_ms_max": late_ms,
    }


def _letter(row: dict[str, Any], letter: Any) -> dict[str, Any]:
    return {
        "group": letter.group,
        "reason": letter.reason,
        "count": 1,
        "bytes": len(row["payload"]),
        "age_ms_sum": letter.age_ms,
        "age_ms_max": letter.age_ms,
    }


def _broken(row: dict[str, Any], reason: str) -> dict[str, Any]:
    return {**row, "reason": reason, "field": None}


def _positioned(schema: pa.Schema) -> pa.Schema:
    for name, kind in _POSITION.items():
        if name not in schema.names:
            schema = schema.append(pa.field(name, kind, nullable=False))
    return schema


def misses(rows: pa.Table) -> pa.Table:
    """Rows of ``MISSES``, some of the same key, as one row each."""
    groups = Groups(rows, LATE_KEYS["misses"])
    return made(
        _MISSES, _keys(groups, "misses") | _sums(groups, "missed", "late_ms_sum") | _most(groups, "late_ms_max")
    )


def dead_letters(rows: pa.Table) -> pa.Table:
    """Rows of ``DEAD_LETTERS``, some of the same key, as one row each."""
    groups = Groups(rows, LATE_KEYS["dead_letters"])
    summed = _sums(groups, "count", "bytes", "age_ms_sum")
    return made(_DEAD_LETTERS, _keys(groups, "dead_letters") | summed | _most(groups, "age_ms_max"))


def _keys(groups: Groups, name: str) -> dict[str, Any]:
    return {key: groups.first(key) for key in LATE_KEYS[name]}


def _sums(groups: Groups, *names: str) -> dict[str, Any]:
    return {name: groups.sum(groups.ordered(name)) for name in names}


def _most(groups: Groups, name: str) -> dict[str, Any]:
    return {name: groups.max(groups.ordered(name))}
