"""What is found in a data folder, as lines for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from lapwing.cli.messages import payload_fields
from lapwing.text import one_line

Event = dict[str, Any]

_WORDS = {"damage": "DAMAGED", "mends": "mends", "note": "note"}
_ORDER = ("damage", "mends", "note")
_SHOWN = ("event", "segment", "at", "bytes", "kind", "group", "partition", "index", "offset", "entry")
# Whose it is and what it is about before the rest; how it was appended behind everything.
_FIRST = ("client_id", "session", "name", "topic", "filter", "filters", "qos", "payload", "payload_bytes", "keepers")
_LAST = ("term", "appended_at_us", "body_bytes")


def size(count: int) -> str:
    """Bytes as people read them."""
    number, units = float(count), ("B", "KiB", "MiB", "GiB")
    for unit in units:
        if number < 1024 or unit == units[-1]:
            break
        number /= 1024
    return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"


def file_lines(event: Event) -> list[str]:
    """One file of a check: a line, and one for each thing found in it."""
    text = f"{_verdict(event):8} {event['kind']:8} {one_line(str(event['path']))}"
    if event["records"] or event["commits"]:
        text += f"  {event['records']:,} records in {event['commits']:,} commits"
    return [f"{text}  {size(event['bytes'])}", *finding_lines(event)]


def group_lines(event: Event) -> list[str]:
    """One data group of a check; nothing for one that never had an entry."""
    if not event["last_index"]:
        return []
    counts = (
        f"{event['sessions']:,} sessions, {event['consumer_groups']:,} durable groups, "
        f"{event['queued']:,} messages wait, {event['retained']:,} retained"
    )
    text = f"{_verdict(event):8} group    {event['group']}  {counts}  entries to {event['last_index']:,}"
    if event["lost"]:
        text += f"  {event['lost']:,} given up"
    return [text, *finding_lines(event)]


def finding_lines(event: Event) -> list[str]:
    """Everything that was found in one thing, indented."""
    return [f"         {_finding(finding)}" for finding in event["findings"]]


def _verdict(event: Event) -> str:
    found = {finding["severity"] for finding in event["findings"]}
    return next((_WORDS[severity] for severity in _ORDER if severity in found), "ok")


def _finding(finding: Event) -> str:
    if finding["severity"] != "damage" and not finding["bytes"]:
        return one_line(str(finding["what"]))
    length = f" ({finding['bytes']:,} bytes)" if finding["bytes"] else ""
    return f"at byte {finding['at']:,}{length}: {one_line(str(finding['what']))}"


def result_line(event: Event) -> str:
    """The last line of a check."""
    text = f"{event['files']:,} files, {size(event['bytes'])}: "
    if event["damaged"]:
        return text + f"{event['damaged']:,} DAMAGED"
    mends = f"; {event['mends']:,} of them the next start puts right" if event["mends"] else ""
    return text + "whole" + mends


def record_line(event: Event) -> str:
    """One record of a dump."""
    place = f"{event['segment']} {event['at']}"
    if event["kind"] == "damage":
        return f"{place} DAMAGED {event['bytes']:,} bytes: {one_line(str(event['what']))}"
    whose = f"group {event['group']} index {event['index']}" if "group" in event else ""
    whose = whose or f"partition {event['partition']} offset {event['offset']}"
    return f"{place} {event['bytes']} B {whose} {event.get('entry', event['kind'])} {_fields(event)}"


def _fields(said: Event) -> str:
    """What an entry says beside its kind."""
    told = {key: value for key, value in said.items() if key not in _SHOWN}
    middle = [key for key in told if key not in _FIRST + _LAST]
    return " ".join(f"{key}={_value(told[key])}" for key in (*_FIRST, *middle, *_LAST) if key in told)


def _value(value: object) -> str:
    if isinstance(value, list):
        return "[" + ",".join(map(_value, value)) + "]"
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}={_value(part)}" for key, part in value.items()) + "}"
    return one_line(value) if isinstance(value, str) else str(value).lower()


def with_payload(event: Event) -> Event:
    """A record with its payload as every command prints payloads."""
    if "payload_hex" not in event:
        return event
    payload = payload_fields(bytes.fromhex(event["payload_hex"]))
    return {**{key: value for key, value in event.items() if key != "payload_hex"}, **payload}


def repair_lines(event: Event) -> Iterable[str]:
    """What a repair tells: what is damaged, what is lost, what is put right."""
    kind = event["event"]
    if kind == "damage":
        yield f"DAMAGED  {event['kind']:8} {one_line(str(event['path']))}"
        yield from finding_lines(event)
    elif kind == "whole":
        yield f"whole    {one_line(str(event['path']))}: nothing of it is given up"
    elif kind == "mended":
        yield f"mended   {one_line(str(event['what']))}"
    elif kind == "dropped":
        yield f"lost     {_dropped(event)}"
    elif kind == "loss":
        yield from _loss(event)


def _dropped(event: Event) -> str:
    if "client_id" in event:
        return f"{event['messages']:,} messages that wait for the session of {one_line(event['client_id'])}"
    if "consumer_group" in event:
        return f"{event['messages']:,} messages that wait for the consumer group {one_line(event['consumer_group'])}"
    if "retained" in event:
        return f"the retained message of {one_line(event['retained'])}"
    return f"the will of {one_line(event['will_of'])}"


def _loss(event: Event) -> Iterable[str]:
    what = f"messages of the stream {one_line(event['stream'])}" if event["stream"] else "entries"
    more = ", and perhaps more behind them" if event["perhaps_more"] else ""
    path = one_line(str(event["path"]))
    yield f"lost     {path}: {event['count']:,} {what}{more} ({event['bytes']:,} bytes cannot be read)"
    whose, place = ("partition", "offsets") if event["stream"] else ("group", "entries")
    for lost in event["lost"]:
        yield f"         {whose} {lost[whose]}: {place} {lost['first']} to {lost['last']}"
    for remains in event["remains"]:
        yield f"         perhaps: {remains['entry']} {_fields(remains)}"
