"""What the ``controller`` job writes besides the tables of ``coverage``: one Delta table per record."""

from __future__ import annotations

from collections.abc import Mapping

from lapwing.contracts.fields import Field, Record

VERSION = 1
RECENT_MAX = 16
"""So many samples of a place are remembered: the most that can be wanted of it."""

_PLACE = (
    Field("tile", "string", "Web Mercator tile at zoom 17 as z/x/y"),
    Field("network", "string", "5G, LTE, ...; null: nobody said", nullable=True),
    Field("channel", "int32", "channel number; null: nobody said", nullable=True),
)
_ID = Field("id", "string", "RUN-BATCH-SEQUENCE: never used twice")
_DEVICE = Field("device", "string", "who is told")
_DO = Field("do", "string", "`measure`, `rate` or `report`")
_ABOUT = Field("tile", "string", "where to measure; null: the command is not about a place", nullable=True)
_DECIDED = Field("decided_at", "time", "the time of the batch that decided it")
_EXPIRES = Field("expires_at", "time", "not to be begun later")

PLACES = Record(
    "places",
    VERSION,
    (
        *_PLACE,
        Field("last_seen", "time", "of its latest sample"),
        Field(
            "recent",
            "rows",
            f"its latest samples, at most {RECENT_MAX}, ascending",
            rows=(Field("at", "time", "`measured_at`, or `ingress_at` if the device's clock runs ahead"),),
        ),
    ),
)

WHEREABOUTS = Record(
    "whereabouts",
    VERSION,
    (
        Field("device", "string", "the device"),
        Field("tile", "string", "where its latest reading with a position was measured"),
        Field("seen_at", "time", "when: `measured_at`, or `ingress_at` if the device's clock runs ahead"),
    ),
)

OUTBOX = Record(
    "outbox",
    VERSION,
    (
        _ID,
        _DEVICE,
        _DO,
        _ABOUT,
        Field("payload", "binary", "the command, as it is published"),
        _DECIDED,
        _EXPIRES,
        Field("batch", "int64", "number of the batch that decided it"),
        Field("sequence", "int32", "its place in that batch"),
        Field("replaces", "string", "id of the command that came to nothing before; null: none did", nullable=True),
    ),
)
"""Committed before anything is published: what is not here was never said."""

COMMANDS = Record(
    "commands",
    VERSION,
    (
        _ID,
        _DEVICE,
        _DO,
        _ABOUT,
        Field("state", "string", "a name of `lapwing.contracts.command_tables.STATES`"),
        _DECIDED,
        _EXPIRES,
        Field("committed_at", "time", "the clock right after its row was in `outbox`"),
        Field("published_at", "time", "when the broker had it for the first time; null: never yet", nullable=True),
        Field("published", "int32", "how often it was published"),
        Field("acknowledged_at", "time", "the device's clock; null: not yet", nullable=True),
        Field("ended_at", "time", "when it was done, refused or given up; null: it is open", nullable=True),
        Field("reason", "string", "why it was refused or given up; null: it was not", nullable=True),
        Field("readings", "int64", "sent for it, as the device says; null: it did not say", nullable=True),
        Field("replaced_by", "string", "id of the command that took its place; null: none did", nullable=True),
    ),
)

STATES: Mapping[str, str] = {
    "outbox": "decided and stored; the broker does not have it yet",
    "published": "the broker has it; the device has not answered",
    "acknowledged": "the device has begun",
    "done": "the device has done it",
    "refused": "the device will not do it; `reason` says why",
    "expired": "nobody answered in time, or it began and did not end",
    "reassigned": "refused or expired, and another command does its work: `replaced_by`",
}

COMMAND_TABLES: Mapping[str, Record] = {record.name: record for record in (PLACES, WHEREABOUTS, OUTBOX, COMMANDS)}
COMMAND_KEYS: Mapping[str, tuple[str, ...]] = {
    "places": ("tile", "network", "channel"),
    "whereabouts": ("device",),
    "commands": ("id",),
}
"""The keys of those that hold one row a key; `outbox` is appended to."""
