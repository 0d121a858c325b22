"""What a broker says of work that came too late: misses and dead letters of consumer groups.

A *miss* is a message of the broker itself: a JSON object. A *dead letter* is a publisher's message, payload and user
properties untouched, with four properties more; a name that the publisher used too counts as the broker set it, last.
"""

from __future__ import annotations

from lapwing.contracts.fields import Field, Record

VERSION = 1
LANES = ("critical", "bulk")
DAY_MS = 86_400_000
AGE_MS_MAX = 10**12
"""Thirty years: a million of them can be summed."""
REASON_PROPERTY = "lapwing-reason"
"""Who has it is a dead letter."""
GROUP_PROPERTY = "lapwing-group"
"""Whose it is."""

_NAME_MAX = 65_535

MISS = Record(
    "miss",
    2,
    (
        Field("group", "string", "the group's share name", low=1, high=_NAME_MAX),
        Field("filter", "string", "the group's topic filter", low=1, high=_NAME_MAX),
        Field("topic", "string", "the topic of the message that was late", low=1, high=_NAME_MAX),
        Field(
            "client_id", "string", "the member that had it; null: it was late while it waited", "", True, 0, _NAME_MAX
        ),
        Field("lane", "string", "`critical` or `bulk`", low=1, high=8),
        Field("deadline_ms", "int64", "from its arrival at the broker", "ms", low=1, high=DAY_MS),
        Field("took_ms", "float64", "from its arrival to its end", "ms", low=0, high=AGE_MS_MAX),
        Field("at_us", "int64", "the broker's clock as it was counted, since the epoch", "us", low=0, high=2**53 - 1),
        Field(
            "message_id",
            "string",
            "the id of the message that was late; null: it has none, or the broker is of before version 2",
            "",
            True,
            0,
            _NAME_MAX,
        ),
    ),
)
"""A payload of a `missed_topic`."""

DEAD_LETTER = Record(
    "dead letter",
    VERSION,
    (
        Field("reason", "string", "why it was not delivered, as in the broker's metrics", low=1, high=64),
        Field("group", "string", "the group's share name", low=1, high=_NAME_MAX),
        Field("topic", "string", "the topic that it was published to at first", low=1, high=_NAME_MAX),
        Field("age_ms", "int64", "from its arrival at the broker", "ms", low=0, high=AGE_MS_MAX),
    ),
)
"""User properties of a message on a `dead_letter_topic`: `lapwing-` and the name with dashes."""


def property_name(field: Field) -> str:
    """The user property that carries a field of a dead letter."""
    return f"lapwing-{field.name.replace('_', '-')}"
