"""Limits that contradict each other in tables that a configuration may have many of: rows for each of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lapwing.config.limit_bounds import Bound, longest_expiry, memory, memory_of_one, other_limit
from lapwing.config.limit_pair import ONE_PACKET, SHORT, Pair

if TYPE_CHECKING:
    from lapwing.config.model import Config


def pairs_of_tables(config: Config) -> Iterator[Pair]:
    """The rows for each listener, stream, hold, group and table of topics that ``config`` has."""
    for number, listener in enumerate(config.listeners):
        yield _listener_connections(number)
        if listener.packet_bytes_max is not None:
            yield _listener_packet(number)
    for name in config.streams:
        yield _stream_retention(name)
    for filter_ in config.hold:
        yield _in_memory("hold", filter_, "bytes")
        yield _hold_expiry(filter_)
    for name in config.groups:
        yield _in_memory("groups", name, "queue_bytes_max")
        yield _group_workers(name)
    for filter_ in config.topics:
        yield _topics_expiry(filter_)


def _listener_connections(number: int) -> Pair:
    key = ("listeners", str(number), "connections_max")
    return Pair(key, False, other_limit("limits", "connections_max"), "it has no effect", zero_is_any=True)


def _listener_packet(number: int) -> Pair:
    key = ("listeners", str(number), "packet_bytes_max")
    return Pair(key, False, memory_of_one, ONE_PACKET)


def _stream_retention(name: str) -> Pair:
    key = ("streams", name, "retain_bytes")
    otherwise = "whole segments are deleted, so the stream would always be larger"
    return Pair(key, True, other_limit("streams", name, "segment_bytes"), otherwise, zero_is_any=True)


def _in_memory(*key: str) -> Pair:
    """What waits there is in memory, whatever is kept on disk of it besides."""
    return Pair(key, False, memory(), SHORT)


def _group_workers(name: str) -> Pair:
    bound = other_limit("limits", "inflight_messages_max")
    return Pair(("groups", name, "workers"), False, bound, "a member is never sent so many")


def _hold_expiry(filter_: str) -> Pair:
    key = ("hold", filter_, "expiry")
    return Pair(key, False, longest_expiry, "messages would expire before", zero_is_any=True)


def _topics_expiry(filter_: str) -> Pair:
    """Against its own bound, or that of all messages; a wider table in between may say another, so then neither."""

    def bound(config: Config) -> Bound | None:
        own = config.topics[filter_].message_expiry_max
        if own is not None:
            return other_limit("topics", filter_, "message_expiry_max")(config)
        if any(table.message_expiry_max is not None for table in config.topics.values()):
            return None
        return other_limit("limits", "message_expiry_max")(config)

    return Pair(("topics", filter_, "message_expiry_default"), False, bound, "it would be lowered")
