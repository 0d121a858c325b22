"""What limits of topics are held against: all topics and filters that a configuration names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from lapwing.config.limit_bounds import Bound, is_own_bridge
from lapwing.config.units import show_size

if TYPE_CHECKING:
    from lapwing.config.model import Config

_PLACE = re.compile("%([cu%])")


def _filters(config: Config) -> Iterator[tuple[str, str]]:
    """Topics, and topic filters for which something is configured, and where."""
    for name, stream in config.streams.items():
        yield f"streams.{name}.filter", stream.filter
    for table in ("hold", "topics"):
        yield from ((f"{table}.{filter_}", filter_) for filter_ in getattr(config, table))
    yield from _of_groups(config)
    yield from _of_listeners(config)
    for number, rule in enumerate(config.rules):
        if rule.effect == "allow":  # one that denies what cannot come does no harm
            yield from ((f"rules[{number}].topics", _shortest(topic)) for topic in rule.topics)
    if is_own_bridge(config):
        for number, to_kafka in enumerate(config.bridge.to_kafka):
            yield f"bridge.to_kafka[{number}].filter", to_kafka.filter


def _shortest(topic: str) -> str:
    """Of a rule, with nothing where a client id or a user name stands."""
    return _PLACE.sub(lambda match: "%" if match[1] == "%" else "", topic)


def _of_groups(config: Config) -> Iterator[tuple[str, str]]:
    for name, group in config.groups.items():
        yield from ((f"groups.{name}.filters", filter_) for filter_ in group.filters)
        for number, rule in enumerate(group.rules):
            yield from ((f"groups.{name}.rules[{number}].topics", filter_) for filter_ in rule.topics)
        told = {"dead_letter_topic": group.dead_letter_topic, "missed_topic": group.missed_topic}
        yield from ((f"groups.{name}.{key}", topic) for key, topic in told.items() if topic is not None)


def _of_listeners(config: Config) -> Iterator[tuple[str, str]]:
    for number, listener in enumerate(config.listeners):
        yield from ((f"listeners[{number}].predefined", entry.topic) for entry in listener.predefined)
        filters = listener.publish_without_connect or []
        yield from ((f"listeners[{number}].publish_without_connect", filter_) for filter_ in filters)


def deepest_filter(config: Config) -> Bound | None:
    """The levels that topics need, so that every filter of the configuration can match one."""
    return _of_filters(config, lambda topic: topic.count("/") + 1, "levels")


def longest_filter(config: Config) -> Bound | None:
    """The same in bytes."""
    return _of_filters(config, lambda topic: len(topic.encode()), "bytes")


def _of_filters(config: Config, measure: Callable[[str], int], unit: str) -> Bound | None:
    """What the shortest topics that match need; ``#`` matches its parent, and a level may be empty."""
    found = [
        (measure(filter_.removesuffix("#").removesuffix("/").replace("+", "")), where)
        for where, filter_ in _filters(config)
    ]
    if not found:
        return None
    most, where = max(found)
    return Bound(most, f"the {most} {unit} of topics that match {where}")


def response_topic(config: Config) -> Bound | None:
    """The bytes of the longest topic that clients are told to have answers sent to; None: they are told none."""
    prefix = config.broker.response_information_prefix
    if prefix is None:
        return None
    most = config.limits.client_id_bytes_max
    words = f"the {len(prefix.encode())} bytes of broker.response_information_prefix and limits.client_id_bytes_max"
    return Bound(len(prefix.encode()) + most, f"{words} = {show_size(most)}")
