"""Who is there in these tests, and what they may do."""

from __future__ import annotations

import lapwing

PASSWORD = "correct horse"
NAMED = ("alice", "bob", "device-7", "a+b", "evil/#")

RULES: list[dict[str, object]] = [
    {"identity": "alice", "may": ["publish", "subscribe"], "topics": ["open/#", "u/%u/#", "$SYS/#"]},
    {"identity": "device-*", "may": ["publish"], "topics": ["spectrum/%c/readings"]},
    {"identity": "device-*", "may": ["subscribe"], "topics": ["commands/%c/+"]},
    {"identity": "*", "may": ["publish", "subscribe"], "topics": ["shared/%u/#", "by-id/%c/#", "%c/first"]},
    {"identity": "*", "may": ["publish", "subscribe"], "topics": ["open/secret/#"], "effect": "deny"},
    {"identity": "anonymous", "may": ["publish", "subscribe"], "topics": ["hello"]},
]


def refused(broker: lapwing.Broker, what: str) -> float:
    """How often somebody was refused that, so far."""
    return broker.metrics()[f'lapwing_not_authorized_total{{what="{what}"}}']
