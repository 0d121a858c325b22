"""Prints docs/tables.md: what a device may say, what breaks that contract, and every table with its columns.

`python tools/tables_reference.py > docs/tables.md`; a test compares the two.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from lapwing.contracts.clocks import CLOCKS, ROUTES
from lapwing.contracts.command_tables import COMMAND_KEYS, COMMAND_TABLES, STATES
from lapwing.contracts.commands import (
    ANSWERS,
    PAYLOAD_BYTES_MAX,
    REGISTRATIONS,
    answer_topic,
    command_topic,
    json_schemas,
    registration_topic,
)
from lapwing.contracts.commands import VERSION as COMMANDS_VERSION
from lapwing.contracts.decode_late import REASONS as LATE_REASONS
from lapwing.contracts.fields import Field, Record
from lapwing.contracts.late import DEAD_LETTER, MISS, property_name
from lapwing.contracts.late_tables import LATE_KEYS, LATE_TABLES
from lapwing.contracts.reading import READING
from lapwing.contracts.rules import REASONS
from lapwing.contracts.tables import KEYS, TABLES

HEAD = """\
# Tables and the contracts behind them

This page is made from `lapwing.contracts`: `python tools/tables_reference.py`. How the tables come about:
[pipeline.md](pipeline.md).

A time is microseconds since the epoch, UTC. A column is never null unless the table says so."""
READING_WORDS = """\
One payload is one JSON object in UTF-8. Times are RFC 3339 with a zone. Required are who, which and when; everything
else may be absent or `null`, which means unknown. Members that are not listed are ignored. A member `v` names the
contract's version; absent means 1. `serial` starts at 0 on each `boot` and rises by one: loss, repeats and order are
counted from it. `rsrp_dbm` of -200 means unknown: the reading stays, its value becomes null. So does whatever else is
optional and breaks the contract, and an RSRP outside the range of its technology (5G NR -156 to -31 dBm, LTE -140 to
-44, UMTS -120 to -24, GSM -113 to -47): `notes` names it. A position is known as a whole or not at all."""
REASONS_WORDS = """\
A payload of which a required member, or the whole, breaks the contract goes to `quarantine` with the first of these
that holds, in this order."""
LATE_WORDS = """\
What the job `deadlines` reads. A message with the user property `lapwing-reason` is a dead letter, and has all four
properties; of a name that is there twice the last one counts, which is the broker's. Any other message is a miss, one
JSON object in UTF-8; members that are not listed are ignored."""
LATE_REASONS_WORDS = """\
What is neither goes to `quarantine`, with the columns above and one of these reasons:"""
COMMAND_WORDS = f"""\
What devices and the job `controller` ([controller.md](controller.md)) say to each other: JSON objects in UTF-8, at most
{PAYLOAD_BYTES_MAX:,} bytes; members that are not listed are ignored, times are RFC 3339 with a zone. `v`, the
version, is said by the controller; absent it means {COMMANDS_VERSION}.

| topic | who publishes | what |
|---|---|---|
| `{registration_topic("DEVICE")}` | the device, retained, and as its last will | a registration; empty takes it out |
| `{command_topic("DEVICE")}` | the controller, QoS 1, with expiry and the id as correlation data | a command |
| `{answer_topic("DEVICE")}` | the device, QoS 1 | an answer |

The controller subscribes to `{REGISTRATIONS}` and `{ANSWERS}`."""
STATES_WORDS = "The states of a command:"
CLOCKS_WORDS = "Each record keeps them apart. A route is a pair of them; its latency is end less start."
WORDS = {
    "readings": "Every valid reading, once, whatever MQTT repeated.",
    "quarantine": "Payloads that break the contract, with the reason and the bytes.",
    "quality": "What arrived and what did not, from serials. A row is complete: it replaces the one before.",
    "latency": "Per minute and route the histogram and its percentiles.",
    "coverage": "Radio coverage per quarter of an hour and map tile; a null key is a key like any other.",
    "misses": "Deadlines missed per minute, group, lane and member. A row is complete: it replaces the one before.",
    "dead_letters": "Dead letters per minute, group and reason. A row is complete: it replaces the one before.",
    "places": "The controller's memory of places: what is fresh. A row is complete: it replaces the one before.",
    "whereabouts": "Where each device was last. A row is complete: it replaces the one before.",
    "outbox": "Commands, committed before anybody hears of them.",
    "commands": "Every command and its state. A row is complete: it replaces the one before.",
    "seen": "The job's memory: which serials have arrived, and which messages without one. Written last, so what stands"
    " here stands everywhere.",
}


def reference() -> str:
    """The whole page."""
    parts = [
        HEAD,
        f"## The reading (version {READING.version})\n\n{READING_WORDS}",
        _rows(("member", "type", "unit", "range", "meaning"), map(_member, READING)),
        f"## What breaks it\n\n{REASONS_WORDS}",
        _rows(("reason", "when"), ((f"`{name}`", meaning) for name, meaning in REASONS.items())),
        f"## Clocks and routes\n\n{CLOCKS_WORDS}",
        _rows(("clock", "column", "meaning"), ((f"`{c.name}`", f"`{c.column}`", c.meaning) for c in CLOCKS)),
        "Routes: " + ", ".join(f"`{route.name}`" for route in ROUTES) + ".",
        *map(_table, TABLES.values()),
        f"## Misses and dead letters (version {MISS.version})\n\n{LATE_WORDS}",
        _rows(("member of a miss", "type", "unit", "range", "meaning"), map(_member, MISS)),
        _rows(("property of a dead letter", "type", "unit", "range", "meaning"), map(_property, DEAD_LETTER)),
        LATE_REASONS_WORDS,
        _rows(("reason", "when"), ((f"`{name}`", meaning) for name, meaning in LATE_REASONS.items())),
        *(_table(record) for name, record in LATE_TABLES.items() if name not in TABLES),
        f"## Commands (version {COMMANDS_VERSION})\n\n{COMMAND_WORDS}",
        *_messages(),
        *map(_table, COMMAND_TABLES.values()),
        STATES_WORDS,
        _rows(("state", "meaning"), ((f"`{name}`", meaning) for name, meaning in STATES.items())),
    ]
    return "\n\n".join(parts) + "\n"


def _messages() -> Iterator[str]:
    """A table for each record that travels, from its JSON Schema."""
    schemas = json_schemas()
    for name in ("Registration", "State", "Command", "Measure", "Rate", "Report", "Answer"):
        schema = schemas[name]
        required = schema.get("required", [])
        members = ((member, told) for member, told in schema["properties"].items() if member != "v")
        cells = ((f"`{m}`" + (" (required)" if m in required else ""), _said(told), told.get("description", ""))
                 for m, told in members)  # fmt: skip
        words = schema["description"].replace("``", "`")
        yield f"**{name}**: {words}\n\n" + _rows(("member", "value", "meaning"), cells)


def _said(schema: dict[str, Any]) -> str:
    """A JSON Schema in a few words."""
    if "anyOf" in schema:
        return ", or ".join(_said(each) for each in schema["anyOf"] if each.get("type") != "null")
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2]
    if "enum" in schema:
        return ", ".join(f"`{each}`" for each in schema["enum"] if each is not None)
    if schema.get("format") == "date-time":
        return "time"
    if schema.get("type") == "array":
        return f"up to {schema['maxItems']} of: {_said(schema['items'])}"
    if "pattern" in schema:
        return f"`{schema['pattern']}`".replace("|", "\\|")
    low, high = schema.get("minimum", schema.get("exclusiveMinimum")), schema.get("maximum")
    if low is not None and high is not None:
        above = "above " if "exclusiveMinimum" in schema else ""
        return f"{schema['type']}, {above}{low} to {_number(high)}"
    bounds = (schema.get("minLength", 0), schema.get("maxLength"))
    return f"string, {bounds[0]} to {bounds[1]} characters" if bounds[1] else str(schema.get("type", ""))


def _table(record: Record) -> str:
    keys = {**KEYS, **LATE_KEYS, **COMMAND_KEYS}.get(record.name)
    written = f"Key: {', '.join(f'`{key}`' for key in keys)}." if keys else "Rows are appended."
    if record.name == "seen":
        written += ' Rows are appended; the masks of one key are joined by "or".'
    head = f"## `{record.name}` (version {record.version})\n\n{WORDS[record.name]} {written}\n\n"
    return head + _rows(("column", "type", "unit", "meaning"), map(_column, record))


def _member(field: Field) -> tuple[str, str, str, str, str]:
    name = f"`{field.name}`" + ("" if field.nullable else " (required)")
    return name, _JSON.get(field.kind, field.kind), field.unit, _range(field), field.meaning


def _property(field: Field) -> tuple[str, str, str, str, str]:
    _, kind, unit, bounds, meaning = _member(field)
    return f"`{property_name(field)}`", kind, unit, bounds, meaning


def _column(field: Field) -> tuple[str, str, str, str]:
    return f"`{field.name}`", _type(field), field.unit, field.meaning


_JSON = {"string": "string", "int64": "integer", "int32": "integer", "float64": "number", "time": "time, as a string"}


def _type(field: Field) -> str:
    kind = field.kind
    if kind == "rows":
        kind = f"list of ({', '.join(f'{each.name} {each.kind}' for each in field.rows)})"  # type: ignore[assignment]
    return kind + (", or null" if field.nullable else "")


def _range(field: Field) -> str:
    if field.low is None or field.high is None:
        return ""
    if field.kind == "time":
        return f"{_year(field.low)} to {_year(field.high)}"
    unit = " characters" if field.kind == "string" else ""
    return f"{_number(field.low)} to {_number(field.high)}{unit}"


def _year(time_us: float) -> int:
    return datetime.fromtimestamp(int(time_us) // 1_000_000, UTC).year


def _number(limit: float) -> str:
    whole = int(limit)
    power = (whole + 1).bit_length() - 1
    return f"2^{power} - 1" if power > 30 and whole == 2**power - 1 else f"{whole:,}"


def _rows(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = ("| " + " | ".join(cells) + " |" for cells in rows)
    return "\n".join((f"| {' | '.join(head)} |", "|" + "---|" * len(head), *lines))


if __name__ == "__main__":
    sys.stdout.write(reference())
