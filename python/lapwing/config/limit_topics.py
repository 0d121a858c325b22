"""What limits of topics are held against: all topics and filters that a configuration names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

PLACE = re.compile("%([cu%])")


class TopicPlace(NamedTuple):
    """Where topics, or filters for which something is configured, stand.

    Attributes:
        path: Their keys, with ``*`` for each entry.
        shown: So many names of that say where it is.
        is_name: They are what a table is called.
        fills_in: ``%c`` and ``%u`` in them are filled in; with nothing, at the least.
        needs: They count only where that key has that value; each ``*`` of it is the same entry as in ``path``.
    """

    path: str
    shown: int
    is_name: bool = False
    fills_in: bool = False
    needs: tuple[str, str] | None = None


TOPIC_PLACES = (
    TopicPlace("streams.*.filter", 3),
    TopicPlace("hold.*", 2, is_name=True),
    TopicPlace("topics.*", 2, is_name=True),
    TopicPlace("groups.*.filters.*", 3),
    TopicPlace("groups.*.rules.*.topics.*", 5),
    TopicPlace("groups.*.dead_letter_topic", 3),
    TopicPlace("groups.*.missed_topic", 3),
    TopicPlace("listeners.*.predefined.*.topic", 3),
    TopicPlace("listeners.*.publish_without_connect.*", 3),
    # One that denies what cannot come does no harm.
    TopicPlace("rules.*.topics.*", 3, fills_in=True, needs=("rules.*.effect", "allow")),
)
BRIDGE_TOPICS = TopicPlace("bridge.to_kafka.*.filter", 4)
"""These count where the bridge of the same file connects to this broker."""


def shortest(topic: str, place: TopicPlace) -> str:
    """The shortest topic that matches; ``#`` matches its parent, and a level may be empty."""
    if place.fills_in:
        topic = PLACE.sub(lambda match: "%" if match[1] == "%" else "", topic)
    return topic.removesuffix("#").removesuffix("/").replace("+", "")


def filled(pattern: str, names: Iterator[str]) -> tuple[str, ...]:
    """``pattern`` with these names in place of each ``*``."""
    return tuple(next(names) if name == "*" else name for name in pattern.split("."))
