"""Limits that contradict each other: every pair of which one could make the other unreachable, and why that matters.

Each limit is judged by itself where it stands; here they are held against each other, once the whole configuration is
known. A pair whose second limit quietly gives way by default is only looked at where somebody has set it: who lowers
``connections_max`` need not lower what lies below it too, but who sets both is told that one has no effect.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lapwing.config.layers import KeyPath, Layer
from lapwing.config.limit_bounds import bound_of, keys_of, looked_up, shown
from lapwing.config.limit_pair import ONE_PACKET, SHORT, Pair, least, most
from lapwing.config.limit_rules import (
    ASKED_FOR_NOTES,
    CONNECT_BYTES,
    CONNECT_ROOM,
    DECLARED,
    DEEPEST_TOPIC,
    FILTERS,
    LONGEST_EXPIRY,
    LONGEST_TOPIC,
    MEMORY_IN_MEMORY,
    MEMORY_OF_ONE,
    PLACES,
    PUBLISH_BYTES,
    RESPONSE_TOPIC,
    SUBSCRIPTIONS,
    TOKEN_ROOM,
    USER_PROPERTIES,
    memory,
    other,
    own_bridge,
    packet_room,
    time_to_connect,
)
from lapwing.config.limit_tables import TABLE_PAIRS
from lapwing.config.problems import place_of, show_key
from lapwing.errors import ConfigError, LapwingError

if TYPE_CHECKING:
    from lapwing.config.model import Config


def check_limits(config: Config, layers: Sequence[Layer] = ()) -> None:
    """Compares the limits of the whole configuration.

    Args:
        config: The whole configuration.
        layers: Where its values were set, the strongest first.

    Raises:
        ConfigError: with every pair that contradicts itself.
    """
    found = [problem for pair, entry in pairs_of(config) if (problem := _judge(config, pair, entry, layers))]
    if found:
        raise ConfigError("the configuration is wrong", problems=found)


def pairs_of(config: Config) -> Iterator[tuple[Pair, str]]:
    """The table, with a row for each listener, stream, hold, group and table of topics of ``config``, and its name."""
    yield from ((pair, "") for pair in PAIRS)
    for pair in TABLE_PAIRS:
        entries = getattr(config, pair.key.partition(".")[0])
        yield from ((pair, name) for name in (entries if isinstance(entries, dict) else map(str, range(len(entries)))))


def _judge(config: Config, pair: Pair, entry: str, layers: Sequence[Layer]) -> LapwingError | None:
    key = keys_of(pair.key, entry)
    value, is_set = looked_up(config, key)
    if value is None or (pair.only_set and not is_set) or (value == 0 and pair.zero_is_any):
        return None
    bound = bound_of(config, pair, entry)
    if bound is None or (value >= bound.value if pair.is_floor else value <= bound.value):
        return None
    limit = f"must be at least {bound.words}" if pair.is_floor else f"is above {bound.words}"
    change = "raise the first or lower the second" if pair.is_floor else "lower the first or raise the second"
    where = _place(key, layers, is_set=is_set)
    return LapwingError(
        f"{show_key(key)} = {shown(config, key, value)}", where=where, remedy=f"{limit}: {pair.otherwise}; {change}"
    )


def _place(key: KeyPath, layers: Sequence[Layer], *, is_set: bool) -> str:
    return place_of(key, layers) or ("given in Python" if is_set else "default")


PAIRS: tuple[Pair, ...] = (
    # What a connection has waiting.
    most(
        "limits.output_high_bytes",
        other("limits.output_bytes_max"),
        "a connection would end before anything is dropped for it",
        only_set=False,
    ),
    most("limits.output_bytes_max", memory(), SHORT),
    # The memory of all.
    most(
        "limits.memory_high_bytes",
        other("limits.memory_max_bytes"),
        "everything would stop before connections are refused",
        only_set=False,
    ),
    most("limits.packet_bytes_max", MEMORY_OF_ONE, ONE_PACKET, only_set=False),
    most(
        "limits.retained_bytes_max",
        memory(2, "half of "),
        "retained messages would leave no memory for clients",
    ),
    most("limits.queue_memory_bytes", memory(), SHORT),
    most("limits.queue_bytes_max", MEMORY_IN_MEMORY, SHORT),
    most("limits.log_lane_bytes", memory(), SHORT),
    most(
        "limits.strangers_bytes_max",
        memory(4, "a quarter of "),
        "it has no effect",
    ),
    # What a session may have, and whether a packet may ask for it.
    least(
        "limits.filters_per_packet_max",
        SUBSCRIPTIONS,
        "a client that subscribes to all that it may have in one packet, as some do when they come back, would never"
        " have it; 0 takes all that fit in a packet",
        only_set=False,
        zero_is_any=True,
    ),
    most(
        "limits.subscriptions_per_session_max",
        FILTERS,
        "a client that subscribes to all that it has in one packet, as some do when they come back, would be cut off",
    ),
    most("limits.groups_per_session_max", SUBSCRIPTIONS, "each group takes a subscription"),
    most("limits.groups_per_session_max", other("dispatch.groups_max"), "there are no more groups"),
    most("dispatch.group_metrics_max", other("dispatch.groups_max"), "there are no more groups"),
    most("limits.groups_per_identity_max", other("dispatch.groups_max"), "there are no more groups"),
    most("limits.sessions_per_identity_max", PLACES, "there are no more sessions"),
    most("dispatch.members_per_group_max", PLACES, "there are no more sessions"),
    most(
        "limits.retained_messages_per_identity_max",
        other("limits.retained_messages_max"),
        "there are no more retained messages",
    ),
    most(
        "limits.retained_bytes_per_identity_max",
        other("limits.retained_bytes_max"),
        "there are no more bytes of retained messages",
    ),
    least(
        "limits.retained_bytes_per_identity_max",
        packet_room(),
        "a retained message that is larger could never be kept, and who publishes it in 3.1.1 cannot be told; 0 takes"
        " any",
        zero_is_any=True,
    ),
    least("dispatch.groups_max", DECLARED, "there is no room for the others", only_set=False),
    # What fits in a packet.
    most("limits.connect_bytes_max", packet_room(), "it has no effect"),
    most(
        "limits.connect_bytes_max",
        memory(4, "a quarter of "),
        "the largest could not come in",
        only_set=False,
    ),
    least(
        "limits.connect_bytes_max",
        CONNECT_ROOM,
        "the longest client ids could not come in",
        only_set=False,
    ),
    most("limits.client_id_bytes_max", packet_room(CONNECT_BYTES), "the longest could not come in"),
    most("limits.topic_bytes_max", packet_room(PUBLISH_BYTES), "the longest could not come in"),
    most(
        "limits.topic_levels_max",
        other("limits.topic_bytes_max", plus=1),
        "a topic of so many levels is longer",
    ),
    least("limits.topic_levels_max", DEEPEST_TOPIC, "nothing could match it", only_set=False),
    least("limits.topic_bytes_max", LONGEST_TOPIC, "nothing could match it", only_set=False),
    least(
        "limits.topic_bytes_max",
        RESPONSE_TOPIC,
        "a client with a longer id could not subscribe where it is told to",
        only_set=False,
    ),
    most(
        "bridge.mqtt.topic_levels_max",
        own_bridge("limits.topic_levels_max"),
        "records for deeper topics would be refused, and sent again",
    ),
    most(
        "bridge.mqtt.user_properties_max",
        own_bridge("limits.user_properties_max"),
        "records with more headers would be refused, and sent again",
    ),
    most("limits.user_properties_max", USER_PROPERTIES, "there are never so many"),
    least("limits.user_properties_max", ASKED_FOR_NOTES, "nobody could ask", only_set=False),
    most("auth.jwt.token_bytes_max", TOKEN_ROOM, "the longest could not come in", only_set=False),
    most(
        "bridge.mqtt.session_expiry",
        own_bridge("limits.session_expiry_max"),
        "the broker would forget a member that is gone before",
    ),
    most(
        "bridge.members",
        own_bridge("dispatch.members_per_group_max"),
        "the others would be refused",
        only_set=False,
    ),
    # How much is under way.
    most("limits.bridge_inflight_messages_max", other("limits.inflight_messages_max"), "it has no effect"),
    # What is kept.
    least(
        "limits.retained_bytes_max",
        packet_room(),
        "a retained message that is larger could never be kept, and who"
        " publishes it in 3.1.1 cannot be told; 0 keeps none",
        only_set=False,
        zero_is_any=True,
    ),
    most("limits.message_expiry_default", other("limits.message_expiry_max"), "it would be lowered"),
    most("limits.queue_age_max", LONGEST_EXPIRY, "messages would expire before", zero_is_any=True),
    most("limits.session_expiry_v311", other("limits.session_expiry_max"), "it has no effect"),
    # Who is no client yet.
    most("limits.strangers_max", other("limits.connections_max"), "it has no effect"),
    most(
        "limits.strangers_per_address_max",
        other("limits.strangers_max", "three quarters of ", times=3, over=4),
        "it has no effect",
    ),
    least(
        "limits.strangers_bytes_max",
        other("limits.connect_bytes_max"),
        "the largest CONNECT could not come in",
        only_set=False,
    ),
    most(
        "limits.handshakes_max",
        other("limits.connections_max", "a quarter of ", over=4, rounds_up=True),
        "it has no effect",
    ),
    most(
        "limits.takeover_wait",
        other("limits.connect_timeout", "half of ", over=2),
        "it has no effect",
    ),
    most("limits.handshakes_per_address_max", other("limits.handshakes_max"), "it has no effect"),
    most("limits.http_checks_per_address_max", other("limits.http_checks_max"), "it has no effect"),
    most(
        "auth.failures_name_max",
        other("auth.failures_max"),
        "the address would be barred before the name",
        zero_is_any=True,
    ),
    most("limits.password_checks_max", other("limits.strangers_max"), "no more can wait"),
    most("auth.failures_delayed_max", other("limits.strangers_max"), "no more can wait"),
    # What was fetched or answered elsewhere.
    most(
        "hooks.timeout",
        time_to_connect("hooks.use"),
        "a client that a hook judges would be closed before the answer",
        only_set=False,
    ),
    most(
        "auth.http.timeout",
        time_to_connect("auth.http.url"),
        "a client would be closed before the answer",
        only_set=False,
    ),
    least(
        "auth.jwt.jwks_stale_max",
        other("auth.jwt.jwks_refresh"),
        "no token would be taken between two fetches",
        only_set=False,
    ),
    least("auth.jwt.jwks_refresh", other("auth.jwt.jwks_retry"), "it would be fetched less often"),
    most("auth.http.ttl", other("auth.http.ttl_max"), "it has no effect"),
    most("auth.http.refused_ttl", other("auth.http.ttl_max"), "it has no effect"),
    # HTTP.
    most("http.reads_max", other("http.connections_max"), "each read takes a connection"),
    most("http.reads_per_identity_max", other("http.reads_max"), "there are no more reads"),
    # What is told of a disk that does not answer.
    most(
        "limits.stall_after",
        other("limits.stuck_after"),
        "systemd would end the broker before /readyz says why",
        only_set=False,
    ),
)
"""The rows that every configuration has, by what they are about."""
