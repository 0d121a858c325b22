"""What the ``deadlines`` job writes: one Delta table per record, at ``OUT/tables/NAME``."""

from __future__ import annotations

from collections.abc import Mapping

from lapwing.contracts.fields import Field, Record
from lapwing.contracts.tables import KEYS, QUARANTINE, SEEN

VERSION = 1

_MINUTE = Field("minute", "time", "minute of the broker's clock as it published the record")
_GROUP = Field("group", "string", "the group's share name")

MISSES = Record(
    "misses",
    VERSION,
    (
        _MINUTE,
        _GROUP,
        Field("filter", "string", "the group's topic filter"),
        Field("lane", "string", "`critical` or `bulk`"),
        Field("member", "string", "client id of the member that had it; null: it was late as it waited", nullable=True),
        Field("missed", "int64", "deadlines missed"),
        Field("late_ms_sum", "int64", "by how much, all together", "ms"),
        Field("late_ms_max", "int64", "by how much at most", "ms"),
    ),
)

DEAD_LETTERS = Record(
    "dead_letters",
    VERSION,
    (
        _MINUTE,
        _GROUP,
        Field("reason", "string", "why they were not delivered, as in the broker's metrics"),
        Field("count", "int64", "dead letters"),
        Field("bytes", "int64", "of their payloads", "B"),
        Field("age_ms_sum", "int64", "from arrival at the broker to their end, all together", "ms"),
        Field("age_ms_max", "int64", "the oldest", "ms"),
    ),
)

LATE_TABLES: Mapping[str, Record] = {record.name: record for record in (MISSES, DEAD_LETTERS, QUARANTINE, SEEN)}
"""`quarantine` and `seen` have the columns of the ``coverage`` job's; `seen` is written last."""

LATE_KEYS: Mapping[str, tuple[str, ...]] = {
    "misses": ("minute", "group", "filter", "lane", "member"),
    "dead_letters": ("minute", "group", "reason"),
    "seen": KEYS["seen"],
}
"""The aggregates' keys; `quarantine` is appended to."""
