"""What breaks the reading's contract: a table of named reasons, in the order in which they are asked.

`decode` accepts; this table says why something was refused, so it runs only on the refused and may be slow.
The parser never decides: trailing bytes, single quotes, numbers as strings, times without a zone are refused here
whatever a JSON library would let through. A member that is repeated counts with each of its
values for the decoder and with its last one here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from lapwing.contracts.fields import Field
from lapwing.contracts.nesting import shallow
from lapwing.contracts.reading import READING, VERSION

_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d:\d\d)(\.\d+)?(Z|z|[+-]\d\d:?\d\d)?", re.ASCII)
_OPTIONAL = frozenset(field.name for field in READING if field.nullable)
_KNOWN = frozenset(READING.names) | {"v"}
_POSITION = ("lat", "lon")
_INTEGERS = ("int8", "int32", "int64")


_DIGITS_MAX = 400
"""No number of the contract has as many; of some thousands of digits Python makes no number at all."""
_FAR: int = 10**_DIGITS_MAX
_SURROGATE = re.compile("[\ud800-\udfff]")


def _whole_number(digits: str) -> int:
    """What the digits say, or something as far out of every range: one member too large does not cost the others."""
    if len(digits) <= _DIGITS_MAX:
        return int(digits)
    return -_FAR if digits.startswith("-") else _FAR


def _parsed(text: str) -> tuple[Any, int]:
    """The first value of ``text``, and where it ends.

    ``NaN`` and ``Infinity`` are no JSON, and what programs say of a value that they do not have: in a member of the
    contract each is a number that is in no range. Elsewhere nobody vouches for them.

    Raises:
        ValueError: there is no JSON value.
    """
    constants: list[str] = []

    def constant(name: str) -> float:
        constants.append(name)
        return float(name)

    value, end = json.JSONDecoder(parse_int=_whole_number, parse_constant=constant).raw_decode(text)
    known = [each for name, each in value.items() if name in _KNOWN] if isinstance(value, dict) else []
    if len(constants) > sum(isinstance(each, float) and not math.isfinite(each) for each in known):
        raise ValueError(f"{constants[0]} is no JSON number")
    return value, end


@dataclass(frozen=True)
class Payload:
    """A refused payload, looked at as deeply as it allows."""

    raw: bytes
    left: Mapping[str, Any] | None = None
    """What is left of its members where some were taken out."""

    @cached_property
    def text(self) -> str | None:
        """The text, or None where the bytes are not UTF-8."""
        try:
            return self.raw.decode()
        except UnicodeDecodeError:
            return None

    @cached_property
    def shallow(self) -> str | None:
        """The text without what lies too deep to be parsed; None where the bytes are not UTF-8, or that is no JSON."""
        try:
            return None if self.text is None else shallow(self.text)
        except ValueError:
            return None

    @property
    def is_deep(self) -> bool:
        """Whether something lies so deep that nobody parses it."""
        return self.shallow != self.text

    @cached_property
    def first_value(self) -> tuple[Any, str] | None:
        """The first JSON value and what follows it; None where there is none."""
        if self.left is not None:
            return self.left, ""
        if self.shallow is None:
            return None
        text = self.shallow.lstrip(" \t\r\n")
        try:
            value, end = _parsed(text)
        except ValueError:
            return None
        return value, text[end:].strip(" \t\r\n")

    @property
    def members(self) -> Mapping[str, Any]:
        """The members of the object; empty where there is no object."""
        value = self.first_value[0] if self.first_value else None
        return value if isinstance(value, dict) else {}

    def first_broken(self, breaks: Callable[[Field, Any], bool]) -> str | None:
        """The first known and given member that ``breaks`` says is wrong."""
        given = ((f, self.members.get(f.name)) for f in READING)
        return next((f.name for f, value in given if value is not None and breaks(f, value)), None)


@dataclass(frozen=True, slots=True)
class Breach:
    """Why a payload was refused; ``field`` is None where no member is to blame."""

    reason: str
    field: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """``breach`` gives the member at fault, ``""`` for the payload as a whole, None where all is well."""

    reason: str
    meaning: str
    breach: Callable[[Payload], str | None]


def _whole(broken: bool) -> str | None:
    return "" if broken else None


def _missing(payload: Payload) -> str | None:
    required = (f.name for f in READING if not f.nullable)
    return next((name for name in required if payload.members.get(name) is None), None)


def _wrong_type(field: Field, value: Any) -> bool:
    if isinstance(value, bool):
        return field.kind != "bool"
    if field.kind in ("string", "time"):
        return not isinstance(value, str)
    whole = field.kind in _INTEGERS and not field.fractional
    return not isinstance(value, int if whole else (int, float))


def is_text(value: str) -> bool:
    """Whether it can be stored: an escape such as ``\\ud800`` without its other half is no character."""
    return _SURROGATE.search(value) is None


def _no_text(_field: Field, value: Any) -> bool:
    return isinstance(value, str) and not is_text(value)


def time_us(text: str) -> int | None:
    """Microseconds since the epoch of an RFC 3339 time with a zone; None where ``text`` is none."""
    match = _TIME.fullmatch(text)
    if not match or match[4] is None:
        return None
    zone = "+00:00" if match[4] in "Zz" else match[4]
    try:
        whole = datetime.fromisoformat(f"{match[1]}T{match[2]}{zone}")
    except ValueError:
        return None
    since = whole - datetime(1970, 1, 1, tzinfo=UTC)
    fraction_us = round(float("0" + (match[3] or ".0")) * 1e6)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + fraction_us


def _zoneless(field: Field, value: Any) -> bool:
    match = _TIME.fullmatch(value) if field.kind == "time" else None
    return match is not None and match[4] is None


def _no_time(field: Field, value: Any) -> bool:
    return field.kind == "time" and time_us(value) is None


def _out_of_range(field: Field, value: Any) -> bool:
    if field.kind == "time":
        measure: float | None = time_us(value)
    else:
        measure = len(value) if field.kind == "string" else value
    if measure is None or (isinstance(measure, float) and not math.isfinite(measure)):
        return True  # of whole numbers nobody asks: one of 400 digits is no float
    return not (field.low is None or field.low <= measure) or not (field.high is None or measure <= field.high)


def _half_position(payload: Payload) -> str | None:
    unknown = [name for name in ("lat", "lon") if payload.members.get(name) is None]
    return unknown[0] if len(unknown) == 1 else None


def _version(payload: Payload) -> str | None:
    said = payload.members.get("v", VERSION)
    return None if type(said) is int and said == VERSION else "v"


RULES: tuple[Rule, ...] = (
    Rule("empty_payload", "there are no bytes", lambda p: _whole(not p.raw)),
    Rule("not_utf8", "the bytes are not UTF-8", lambda p: _whole(p.text is None)),
    Rule("not_json", "no JSON value stands at the start", lambda p: _whole(p.first_value is None)),
    Rule(
        "trailing_bytes",
        "more follows the first value",
        lambda p: _whole(bool(p.first_value and p.first_value[1])),
    ),
    Rule(
        "not_an_object",
        "the value is no object",
        lambda p: _whole(not isinstance((p.first_value or [{}])[0], dict)),
    ),
    Rule("unknown_version", f"`v` is there and not {VERSION}", _version),
    Rule("missing_field", "a required member is absent or null", _missing),
    Rule(
        "wrong_type",
        "a member has another type: a number as a string, 1.0 for 1",
        lambda p: p.first_broken(_wrong_type),
    ),
    Rule(
        "not_text", "a string has half of a surrogate pair, which is no character", lambda p: p.first_broken(_no_text)
    ),
    Rule("time_without_zone", "a time has no zone", lambda p: p.first_broken(_zoneless)),
    Rule("not_a_time", "a time is not RFC 3339", lambda p: p.first_broken(_no_time)),
    Rule("out_of_range", "a value is outside the field's range", lambda p: p.first_broken(_out_of_range)),
    Rule("half_position", "latitude without longitude, or the reverse", _half_position),
)
REFUSED = Rule("refused", "the decoder refused it, and no rule above says why", lambda _: "")
SERIAL_REUSED = "serial_reused"
SERIAL_JUMP = "serial_jump"
OF_SERIALS: Mapping[str, str] = {
    SERIAL_REUSED: "another reading had device, boot and serial: the boot did not rise, or somebody else uses them",
    SERIAL_JUMP: "the serial is 2**40 or more above the one before: no device skips so many",
}
"""Of readings that keep the contract, and cannot be what their serial says."""
REASONS: Mapping[str, str] = {**{rule.reason: rule.meaning for rule in (*RULES, REFUSED)}, **OF_SERIALS}


def readable_device(raw: bytes) -> str | None:
    """The device that a payload names, whatever else it breaks; None where that cannot be read."""
    device = Payload(raw).members.get("device")
    return device if isinstance(device, str) and is_text(device) else None


def readable_serial(raw: bytes) -> tuple[str, int, int] | None:
    """Device, boot and serial of a payload that breaks the contract elsewhere; None where they cannot be read."""
    payload = Payload(raw)
    found = [(READING[name], payload.members.get(name)) for name in ("device", "boot", "serial")]
    wrong = (_wrong_type, _no_text, _out_of_range)
    if any(value is None or any(breaks(each, value) for breaks in wrong) for each, value in found):
        return None
    device, boot, serial = (payload.members[name] for name in ("device", "boot", "serial"))
    return device, boot, serial


def mended(raw: bytes) -> tuple[bytes, tuple[str, ...]] | None:
    """A payload of which only optional members break the contract, without these, and what was wrong with each.

    A position is known as a whole or not at all. Half of a surrogate pair in a member that nobody knows is no text for
    the decoder either, and it goes only so deep: such a member goes without a word. None: something else is wrong, too.
    """
    payload = said = Payload(raw)
    members = {name: value for name, value in payload.members.items() if name in _KNOWN}
    notes: list[str] = []
    while (found := _first_breach(payload)) is not None:
        if found.field is None or found.field not in _OPTIONAL:
            return None
        notes.append(f"{found.field} {found.reason}")
        members |= dict.fromkeys(_POSITION if found.field in _POSITION else (found.field,))
        payload = Payload(raw, members)
    if notes or said.is_deep or not is_text(json.dumps(payload.members, ensure_ascii=False)):
        raw = json.dumps(members).encode()
    return raw, tuple(notes)


def breach(raw: bytes) -> Breach | None:
    """The first rule that ``raw`` breaks; None where it keeps the contract."""
    return _first_breach(Payload(raw))


def _first_breach(payload: Payload) -> Breach | None:
    for rule in RULES:
        found = rule.breach(payload)
        if found is not None:
            return Breach(rule.reason, found or None)
    return None
