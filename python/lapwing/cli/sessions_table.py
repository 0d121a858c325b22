"""Sessions and queues as tables: columns for people, aligned with spaces."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from lapwing.cli.common import table
from lapwing.text import one_line

SESSION_HEAD = (
    "CLIENT", "STATE", "EXPIRY", "SUBS", "WAITING", "BYTES", "OUT", "IN", "LOST", "SHARD", "MQTT", "USER", "ADDRESS",
)  # fmt: skip
CLIENT_HEAD = (
    "CLIENT", "USER", "ADDRESS", "LISTENER", "MQTT", "SINCE", "IN", "OUT", "SUBS", "INFLIGHT", "WAITING",
)  # fmt: skip
QUEUE_HEAD = ("CLIENT", "STATE", "WAITING", "BYTES", "OUT", "LOST")
SUBSCRIPTION_HEAD = ("FILTER", "QOS", "OPTIONS", "ID")
MESSAGE_HEAD = ("TOPIC", "QOS", "BYTES", "AGE", "EXPIRES", "FROM")
_NONE = "-"


def sessions_table(sessions: Iterable[dict[str, Any]], now: datetime) -> str:
    """One row a session; OUT and IN are messages under way to the client and from it,
    LOST those that it never gets."""
    return table((session_row(session, now) for session in sessions), SESSION_HEAD)


def session_row(session: dict[str, Any], now: datetime) -> tuple[str, ...]:
    """One session: who and where, how long it stays, what it has."""
    return (
        one_line(session["client_id"]),
        state(session, now),
        expiry(session),
        f"{session['subscriptions']:,}",
        f"{session['waiting_messages']:,}",
        f"{session['waiting_bytes']:,}",
        f"{session['inflight_out']:,}",
        f"{session['inflight_in']:,}",
        f"{session['lost_messages']:,}",
        str(session["shard"]),
        session["version"] or _NONE,
        one_line(session["user"]) if session["user"] is not None else _NONE,
        session["address"] or _NONE,
    )


def clients_table(clients: Iterable[dict[str, Any]], now: datetime) -> str:
    """One row a connection; IN and OUT are bytes, INFLIGHT messages under way to the client and from it."""
    return table((client_row(client, now) for client in clients), CLIENT_HEAD)


def client_row(client: dict[str, Any], now: datetime) -> tuple[str, ...]:
    """One connection: whose, from where and since when, and what it does."""
    since = datetime.fromisoformat(client["connected_since"])
    return (
        one_line(client["client_id"]),
        one_line(client["user"]) if client["user"] is not None else _NONE,
        client["address"],
        client["listener"],
        client["version"] or _NONE,
        span(round(max(0.0, (now - since).total_seconds()), 1)),
        f"{client['bytes_in']:,}",
        f"{client['bytes_out']:,}",
        f"{client['subscriptions']:,}",
        f"{client['inflight_out']:,}/{client['inflight_in']:,}",
        f"{client['waiting_messages']:,}",
    )


def queues_table(queues: Iterable[dict[str, Any]], now: datetime) -> str:
    """One row a queue."""
    return table((queue_row(queue, now) for queue in queues), QUEUE_HEAD)


def queue_row(queue: dict[str, Any], now: datetime) -> tuple[str, ...]:
    """One queue: whose, and what is in it."""
    waiting = f"{queue['waiting_messages']:,}", f"{queue['waiting_bytes']:,}"
    return (
        one_line(queue["client_id"]),
        state(queue, now),
        *waiting,
        f"{queue['inflight_out']:,}",
        f"{queue['lost_messages']:,}",
    )


def subscriptions_table(session: dict[str, Any]) -> str:
    """What one session subscribes to."""
    return table(map(_subscription_row, session["subscribed"]), SUBSCRIPTION_HEAD)


def _subscription_row(subscription: dict[str, Any]) -> tuple[str, ...]:
    options = [name.replace("_", "-") for name in ("no_local", "retain_as_published") if subscription[name]]
    number = subscription["subscription_id"]
    return (
        one_line(subscription["filter"]),
        str(subscription["qos"]),
        ", ".join(options) or _NONE,
        _NONE if number is None else str(number),
    )


def messages_table(messages: Iterable[dict[str, Any]]) -> str:
    """What has waited longest, the first first."""
    return table(map(_message_row, messages), MESSAGE_HEAD)


def _message_row(message: dict[str, Any]) -> tuple[str, ...]:
    age_ms, expires_ms = message["age_ms"], message["expires_in_ms"]
    return (
        one_line(message["topic"]),
        str(message["qos"]),
        f"{message['bytes']:,}",
        _NONE if age_ms is None else span(age_ms / 1000),
        _NONE if expires_ms is None else f"in {span(expires_ms / 1000)}",
        "group" if message["is_of_group"] else "subscription",
    )


def state(session: dict[str, Any], now: datetime) -> str:
    """``connected``, or for how long it has been away."""
    if session["is_connected"]:
        return "connected"
    since = datetime.fromisoformat(session["away_since"])
    return f"away {span(max(0.0, (now - since).total_seconds()))}"


def expiry(session: dict[str, Any]) -> str:
    """When it ends if its client does not come back, or would end."""
    if session["expiry_s"] is None:
        return "never"
    left = session["ends_in_s"]
    return span(session["expiry_s"]) if left is None else f"in {span(left)}"


def span(seconds: float) -> str:
    """A time in its two largest units: ``3 d 4 h``, ``2 min 5 s``, ``0.2 s``."""
    if seconds < 10:
        return f"{seconds:.1f} s" if seconds % 1 else f"{seconds:.0f} s"
    whole = round(seconds)
    for unit_s, unit, part_s, part in ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min"), (60, "min", 1, "s")):
        if whole >= unit_s:
            rest = whole % unit_s // part_s
            return f"{whole // unit_s} {unit} {rest} {part}" if rest else f"{whole // unit_s} {unit}"
    return f"{whole} s"


def now_utc() -> datetime:
    """The time against which ``away`` is told."""
    return datetime.now(UTC)
