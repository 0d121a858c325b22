"""What the controller and devices say to each other: a registration, a command, an answer. JSON in UTF-8, version 1.

The vocabulary is small on purpose: `Measure` a channel for a while, change the `Rate`, `Report` the state. A device
answers each command that it has not had before with ``acknowledged``, then ``done`` or ``refused``; one that it has had
before (it remembers ids over a reboot) it answers again and does not execute. Members that are not listed are ignored.

Topics are stated here and nowhere else. A device is one level of a topic: its name has no ``/``, ``+`` or ``#``.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

VERSION = 1
REGISTRATIONS = "devices/+/registration"
"""Retained; with a last will on the same topic that says ``present: false``."""
ANSWERS = "answers/+"

PAYLOAD_BYTES_MAX = 8192
"""Of a registration or an answer; what is longer is not looked at."""

MEASURE_S_MAX = 3600
"""The longest order to measure."""

_NAME = re.compile(r"[^/+#\x00]{1,128}")


def registration_topic(device: str) -> str:
    """Where a device says what it can do."""
    return f"devices/{device}/registration"


def command_topic(device: str) -> str:
    """Where a device hears commands."""
    return f"commands/{device}"


def answer_topic(device: str) -> str:
    """Where a device answers."""
    return f"answers/{device}"


def can_be_commanded(device: str) -> bool:
    """Whether the name can be a level of a topic."""
    return _NAME.fullmatch(device) is not None


Name = Annotated[str, Meta(min_length=1, max_length=128, description="the device's name")]
Id = Annotated[str, Meta(pattern=r"^[0-9a-f]{12}-\d{1,19}-\d{1,9}$", description="RUN-BATCH-SEQUENCE")]
Time = Annotated[datetime, Meta(tz=True)]
Tile = Annotated[str, Meta(pattern=r"^\d{1,2}/\d{1,9}/\d{1,9}$", description="Web Mercator tile, z/x/y")]
Network = Annotated[str, Meta(max_length=64)]
Channel = Annotated[int, Meta(ge=0, le=2**31 - 1)]
RateHz = Annotated[float, Meta(ge=0, le=1000, description="readings per second")]
Share = Annotated[float, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=0, le=2**53 - 1)]
V = Literal[1]

Refusal = Literal["not_there", "cannot", "busy", "no_budget", "low_battery", "too_late"]
"""Why a device does not do it: it is not in that tile; has no such channel; measures already; may send no more
readings; is short of power; the command had expired when it came."""


class State(Struct, frozen=True, omit_defaults=True):
    """How a device is; what it does not know it leaves out."""

    battery: Annotated[Share | None, Meta(description="charge, 0..1")] = None
    tile: Annotated[Tile | None, Meta(description="where it is")] = None
    rate_hz: Annotated[RateHz | None, Meta(description="its own readings per second, now")] = None
    budget: Annotated[Count | None, Meta(description="readings that it may still send")] = None


class Registration(Struct, frozen=True, omit_defaults=True):
    """What a device can do; retained, and with ``present: false`` its last will."""

    device: Name
    present: Annotated[bool, Meta(description="false: it is gone, or about to be")]
    networks: Annotated[tuple[Network, ...], Meta(max_length=16, description="networks it can measure")] = ()
    channels: Annotated[
        Annotated[tuple[Channel, ...], Meta(max_length=256)] | None,
        Meta(description="channels it can measure; absent: all of its networks"),
    ] = None
    rate_hz: Annotated[RateHz | None, Meta(description="its usual readings per second")] = None
    rate_hz_max: Annotated[RateHz, Meta(description="the most it can")] = 1.0
    state: State = State()
    v: V = 1


class Measure(Struct, frozen=True, omit_defaults=True, tag_field="do", tag="measure"):
    """Measure in a tile: ``seconds * rate_hz`` readings, taken from what the device would have sent anyway."""

    tile: Tile
    seconds: Annotated[float, Meta(gt=0, le=MEASURE_S_MAX)]
    rate_hz: Annotated[float, Meta(gt=0, le=1000)]
    network: Annotated[Network | None, Meta(description="absent: whatever it hears")] = None
    channel: Annotated[Channel | None, Meta(description="absent: whatever it hears")] = None


class Rate(Struct, frozen=True, tag_field="do", tag="rate"):
    """From now on measure so often."""

    rate_hz: Annotated[float, Meta(gt=0, le=1000)]


class Report(Struct, frozen=True, tag_field="do", tag="report"):
    """Say how you are: the answer's ``state``."""


class Command(Struct, frozen=True, omit_defaults=True):
    """An order to one device."""

    id: Id
    device: Name
    issued_at: Time
    expires_at: Annotated[datetime, Meta(tz=True, description="not to be begun later")]
    order: Measure | Rate | Report
    v: V = 1


class Answer(Struct, frozen=True, omit_defaults=True):
    """What became of a command."""

    id: Id
    device: Name
    answered_at: Time
    outcome: Literal["acknowledged", "done", "refused"]
    reason: Annotated[Refusal | None, Meta(description="of a refusal")] = None
    readings: Annotated[Count | None, Meta(description="sent for it")] = None
    state: State = State()
    v: V = 1


_Kind = TypeVar("_Kind", Registration, Command, Answer)
_DECODERS: dict[type, msgspec.json.Decoder[Any]] = {
    kind: msgspec.json.Decoder(kind) for kind in (Registration, Command, Answer)
}
_ENCODER = msgspec.json.Encoder()


def encode(record: Registration | Command | Answer) -> bytes:
    """The payload; ``v`` is always said."""
    return _ENCODER.encode({"v": VERSION, **msgspec.to_builtins(record)})


def decode(payload: bytes, kind: type[_Kind]) -> _Kind | None:
    """The record that ``payload`` says; None where it breaks the contract or is longer than `PAYLOAD_BYTES_MAX`."""
    if len(payload) > PAYLOAD_BYTES_MAX:
        return None
    try:
        payload.decode()  # also in members that nobody knows
        found: _Kind = _DECODERS[kind].decode(payload)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return found


def json_schemas() -> dict[str, Any]:
    """JSON Schema of every record here, by name."""
    _, components = msgspec.json.schema_components((Registration, Command, Answer), ref_template="#/$defs/{name}")
    return dict(components)
