"""Limits that contradict each other: every pair of which one could make the other unreachable, and why that matters.

Each limit is judged by itself where it stands; here they are held against each other, once the whole configuration is
known. A pair whose second limit quietly gives way by default is only looked at where somebody has set it: who lowers
``connections_max`` need not lower what lies below it too, but who sets both is told that one has no effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from lapwing.config.layers import KeyPath, Layer
from lapwing.config.limit_bounds import (
    CONNECT_BYTES,
    FILTER_BYTES,
    PUBLISH_BYTES,
    Bound,
    BoundOf,
    asked_for_notes,
    declared,
    largest_packet,
    looked_up,
    memory,
    memory_in_memory,
    memory_of_one,
    other_limit,
    own_bridge,
    packet_room,
    places,
    shown,
    subscriptions,
    time_to_connect,
    token_room,
    user_properties,
)
from lapwing.config.limit_topics import deepest_filter, longest_filter, response_topic
from lapwing.config.problems import place_of, show_key
from lapwing.config.units import show_size
from lapwing.errors import ConfigError, LapwingError

if TYPE_CHECKING:
    from lapwing.config.model import Config


class Pair(NamedTuple):
    """One row of the table.

    Attributes:
        key: The limit that is judged.
        is_floor: The bound is the least that it may be; else the most.
        bound: What it is held against; None where that is off.
        otherwise: What would happen, behind "or".
        only_set: Its default gives way, so it is judged only where it is set to something else.
        zero_is_any: At 0 it is no limit.
    """

    key: KeyPath
    is_floor: bool
    bound: BoundOf
    otherwise: str
    only_set: bool = True
    zero_is_any: bool = False


def check_limits(config: Config, layers: Sequence[Layer] = ()) -> None:
    """Compares the limits of the whole configuration.

    Args:
        config: The whole configuration.
        layers: Where its values were set, the strongest first.

    Raises:
        ConfigError: with every pair that contradicts itself.
    """
    found = [problem for pair in pairs_of(config) if (problem := _judge(config, pair, layers))]
    if found:
        raise ConfigError("the configuration is wrong", problems=found)


def pairs_of(config: Config) -> Iterator[Pair]:
    """The table, with a row for each listener, stream and identity that ``config`` has."""
    yield from PAIRS
    for number, listener in enumerate(config.listeners):
        yield _listener_connections(number)
        if listener.packet_bytes_max is not None:
            yield _listener_packet(number)
    for name in config.streams:
        yield _stream_retention(name)
    for filter_ in config.hold:
        yield _in_memory("hold", filter_, "bytes")
    for name in config.groups:
        yield _in_memory("groups", name, "queue_bytes_max")
        yield _group_workers(name)


def _judge(config: Config, pair: Pair, layers: Sequence[Layer]) -> LapwingError | None:
    value, is_set = looked_up(config, pair.key)
    bound = pair.bound(config)
    if bound is None or value is None or (pair.only_set and not is_set) or (value == 0 and pair.zero_is_any):
        return None
    if value >= bound.value if pair.is_floor else value <= bound.value:
        return None
    where = place_of(pair.key, layers) or ("given in Python" if is_set else "default")
    limit = f"must be at least {bound.words}" if pair.is_floor else f"is above {bound.words}"
    change = "raise the first or lower the second" if pair.is_floor else "lower the first or raise the second"
    return LapwingError(
        f"{show_key(pair.key)} = {shown(pair.key, value)}", where=where, remedy=f"{limit}: {pair.otherwise}; {change}"
    )


def _most(key: str, bound: BoundOf, otherwise: str, **more: bool) -> Pair:
    return Pair(tuple(key.split(".")), False, bound, otherwise, **more)


def _least(key: str, bound: BoundOf, otherwise: str, **more: bool) -> Pair:
    return Pair(tuple(key.split(".")), True, bound, otherwise, **more)


_ONE_PACKET = "one packet would fill it"
_SHORT = "memory would be short before it is reached"

PAIRS: tuple[Pair, ...] = (
    # What a connection has waiting.
    _most(
        "limits.output_high_bytes",
        other_limit("limits", "output_bytes_max"),
        "a connection would end before anything is dropped for it",
        only_set=False,
    ),
    _most("limits.output_bytes_max", memory(), _SHORT),
    # The memory of all.
    _most(
        "limits.memory_high_bytes",
        other_limit("limits", "memory_max_bytes"),
        "everything would stop before connections are refused",
        only_set=False,
    ),
    _most("limits.packet_bytes_max", memory_of_one, _ONE_PACKET, only_set=False),
    _most(
        "limits.retained_bytes_max",
        memory(lambda high: high // 2, "half of "),
        "retained messages would leave no memory for clients",
    ),
    _most("limits.queue_memory_bytes", memory(), _SHORT),
    _most("limits.queue_bytes_max", memory_in_memory, _SHORT),
    _most("limits.log_lane_bytes", memory(), _SHORT),
    _most(
        "limits.strangers_bytes_max",
        memory(lambda high: high // 4, "a quarter of "),
        "it has no effect",
    ),
    # What a session may have, and whether a packet may ask for it.
    _least(
        "limits.filters_per_packet_max",
        subscriptions,
        "a client that subscribes to all that it may have in one packet, as some do when they come back, would never"
        " have it; 0 takes all that fit in a packet",
        only_set=False,
        zero_is_any=True,
    ),
    _most(
        "limits.subscriptions_per_session_max",
        lambda config: Bound(
            largest_packet(config) // FILTER_BYTES,
            f"what fits in packet_bytes_max = {show_size(largest_packet(config))}, {FILTER_BYTES} bytes for each",
        ),
        "a client that subscribes to all that it has in one packet, as some do when they come back, would be cut off",
    ),
    _most("limits.groups_per_session_max", subscriptions, "each group takes a subscription"),
    _most("limits.groups_per_session_max", other_limit("dispatch", "groups_max"), "there are no more groups"),
    _most("limits.groups_per_identity_max", other_limit("dispatch", "groups_max"), "there are no more groups"),
    _most("limits.sessions_per_identity_max", places, "there are no more sessions"),
    _most("dispatch.members_per_group_max", places, "there are no more sessions"),
    _most(
        "limits.retained_messages_per_identity_max",
        other_limit("limits", "retained_messages_max"),
        "there are no more retained messages",
    ),
    _most(
        "limits.retained_bytes_per_identity_max",
        other_limit("limits", "retained_bytes_max"),
        "there are no more bytes of retained messages",
    ),
    _least(
        "limits.retained_bytes_per_identity_max",
        packet_room(),
        "a retained message that is larger could never be kept, and who publishes it in 3.1.1 cannot be told; 0 takes"
        " any",
        zero_is_any=True,
    ),
    _least("dispatch.groups_max", declared, "there is no room for the others", only_set=False),
    # What fits in a packet.
    _most("limits.connect_bytes_max", packet_room(), "it has no effect"),
    _most(
        "limits.connect_bytes_max",
        memory(lambda high: high // 4, "a quarter of "),
        "the largest could not come in",
        only_set=False,
    ),
    _least(
        "limits.connect_bytes_max",
        lambda config: Bound(
            config.limits.client_id_bytes_max + CONNECT_BYTES,
            f"limits.client_id_bytes_max = {config.limits.client_id_bytes_max} and {CONNECT_BYTES} bytes around it",
        ),
        "the longest client ids could not come in",
        only_set=False,
    ),
    _most("limits.client_id_bytes_max", packet_room(CONNECT_BYTES), "the longest could not come in"),
    _most("limits.topic_bytes_max", packet_room(PUBLISH_BYTES), "the longest could not come in"),
    _most(
        "limits.topic_levels_max",
        other_limit("limits", "topic_bytes_max", factor=lambda most: most + 1),
        "a topic of so many levels is longer",
    ),
    _least("limits.topic_levels_max", deepest_filter, "nothing could match it", only_set=False),
    _least("limits.topic_bytes_max", longest_filter, "nothing could match it", only_set=False),
    _least(
        "limits.topic_bytes_max",
        response_topic,
        "a client with a longer id could not subscribe where it is told to",
        only_set=False,
    ),
    _most(
        "bridge.mqtt.topic_levels_max",
        own_bridge(other_limit("limits", "topic_levels_max")),
        "records for deeper topics would be refused, and sent again",
    ),
    _most(
        "bridge.mqtt.user_properties_max",
        own_bridge(other_limit("limits", "user_properties_max")),
        "records with more headers would be refused, and sent again",
    ),
    _most("limits.user_properties_max", user_properties, "there are never so many"),
    _least("limits.user_properties_max", asked_for_notes, "nobody could ask", only_set=False),
    _most("auth.jwt.token_bytes_max", token_room, "the longest could not come in", only_set=False),
    # How much is under way.
    _most("limits.bridge_inflight_messages_max", other_limit("limits", "inflight_messages_max"), "it has no effect"),
    # What is kept.
    _least(
        "limits.retained_bytes_max",
        packet_room(),
        "a retained message that is larger could never be kept, and who"
        " publishes it in 3.1.1 cannot be told; 0 keeps none",
        only_set=False,
        zero_is_any=True,
    ),
    _most("limits.message_expiry_default", other_limit("limits", "message_expiry_max"), "it would be lowered"),
    _most("limits.session_expiry_v311", other_limit("limits", "session_expiry_max"), "it has no effect"),
    # Who is no client yet.
    _most("limits.strangers_max", other_limit("limits", "connections_max"), "it has no effect"),
    _most(
        "limits.strangers_per_address_max",
        other_limit("limits", "strangers_max", factor=lambda most: most * 3 // 4, words="three quarters of "),
        "it has no effect",
    ),
    _least(
        "limits.strangers_bytes_max",
        other_limit("limits", "connect_bytes_max"),
        "the largest CONNECT could not come in",
        only_set=False,
    ),
    _most(
        "limits.handshakes_max",
        other_limit("limits", "connections_max", factor=lambda most: -(-most // 4), words="a quarter of "),
        "it has no effect",
    ),
    _most("limits.handshakes_per_address_max", other_limit("limits", "handshakes_max"), "it has no effect"),
    _most("limits.http_checks_per_address_max", other_limit("limits", "http_checks_max"), "it has no effect"),
    _most(
        "auth.failures_name_max",
        other_limit("auth", "failures_max"),
        "the address would be barred before the name",
        zero_is_any=True,
    ),
    _most("limits.password_checks_max", other_limit("limits", "strangers_max"), "no more can wait"),
    # What was fetched or answered elsewhere.
    _most(
        "hooks.timeout",
        time_to_connect(lambda config: config.hooks.use is not None),
        "a client that a hook judges would be closed before the answer",
        only_set=False,
    ),
    _most(
        "auth.http.timeout",
        time_to_connect(lambda config: config.auth.http.url is not None),
        "a client would be closed before the answer",
        only_set=False,
    ),
    _least(
        "auth.jwt.jwks_stale_max",
        other_limit("auth", "jwt", "jwks_refresh"),
        "no token would be taken between two fetches",
        only_set=False,
    ),
    _least("auth.jwt.jwks_refresh", other_limit("auth", "jwt", "jwks_retry"), "it would be fetched less often"),
    _most("auth.http.ttl", other_limit("auth", "http", "ttl_max"), "it has no effect"),
    _most("auth.http.refused_ttl", other_limit("auth", "http", "ttl_max"), "it has no effect"),
    # HTTP.
    _most("http.reads_max", other_limit("http", "connections_max"), "each read takes a connection"),
)
"""The rows that every configuration has, by what they are about."""


def _listener_connections(number: int) -> Pair:
    key = ("listeners", str(number), "connections_max")
    return Pair(key, False, other_limit("limits", "connections_max"), "it has no effect", zero_is_any=True)


def _listener_packet(number: int) -> Pair:
    key = ("listeners", str(number), "packet_bytes_max")
    return Pair(key, False, memory_of_one, _ONE_PACKET)


def _stream_retention(name: str) -> Pair:
    key = ("streams", name, "retain_bytes")
    otherwise = "whole segments are deleted, so the stream would always be larger"
    return Pair(key, True, other_limit("streams", name, "segment_bytes"), otherwise, zero_is_any=True)


def _in_memory(*key: str) -> Pair:
    """What waits there is in memory, whatever is kept on disk of it besides."""
    return Pair(key, False, memory(), _SHORT)


def _group_workers(name: str) -> Pair:
    bound = other_limit("limits", "inflight_messages_max")
    return Pair(("groups", name, "workers"), False, bound, "a member is never sent so many")
