"""What of a configuration that was read again a running broker takes over, and what waits for the next start."""

from __future__ import annotations

from pydantic import BaseModel

from lapwing.config.model import Config

RELOADED = ("auth", "rules", "groups", "topics")
"""The tables that are taken over; what certificates hold is in no table."""
AT_START = (
    "broker",
    "listeners",
    "http",
    "hooks",
    "log",
    "limits",
    "sys",
    "events",
    "audit",
    "cluster",
    "envelope",
    "streams",
    "dispatch",
    "hold",
)
"""The tables that are read at the start only."""
OF_OTHERS = ("bridge",)
"""The table of a program of its own, which no broker reads."""

_RELOADED_KEYS = ("broker.files",)
_AT_START_KEYS = "auth.failures_"
"""How names begin of keys that are read at the start only, though the rest of their table is taken over."""
_NAMES_MAX = 20


def waiting_for_restart(begun: Config, now: Config) -> list[str]:
    """What is other in ``now`` than at the start and is not taken over: keys of sections, and other tables by name."""
    return [name for table in (*RELOADED, *AT_START) for name in _changes(table, begun, now) if not _is_taken(name)]


def in_words(names: list[str]) -> str:
    """Those names in a line of the log; the first of very many."""
    more = f" and {len(names) - _NAMES_MAX} more" if len(names) > _NAMES_MAX else ""
    return f"{', '.join(names[:_NAMES_MAX])}{more}"


def _changes(table: str, begun: Config, now: Config) -> list[str]:
    one, other = getattr(begun, table), getattr(now, table)
    if not isinstance(one, BaseModel):
        return [table] if one != other else []
    keys = type(one).model_fields
    return [f"{table}.{key}" for key in keys if getattr(one, key) != getattr(other, key)]


def _is_taken(name: str) -> bool:
    table = name.partition(".")[0]
    return name in _RELOADED_KEYS or (table in RELOADED and not name.startswith(_AT_START_KEYS))
