"""Limits that contradict each other: every pair of which one could make the other unreachable, and why that matters.

Each limit is judged by itself where it stands; here they are held against each other, once the whole configuration is
known. A pair whose second limit quietly gives way by default is only looked at where somebody has set it: who lowers
``connections_max`` need not lower what lies below it too, but who sets both is told that one has no effect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from lapwing.config.layers import KeyPath, Layer
from lapwing.config.problems import place_of, show_key
from lapwing.config.units import show_duration, show_size
from lapwing.errors import ConfigError, LapwingError

if TYPE_CHECKING:
    from lapwing.config.model import Config

_CONNECT_BYTES = 16
"""A CONNECT of 5.0 around its client id."""
_PUBLISH_BYTES = 10
"""A PUBLISH of 5.0 around its topic, without payload."""
_USER_PROPERTY_BYTES = 5
"""The shortest one: its identifier, and two empty strings with their lengths."""
_FILTER_BYTES = 4
"""The shortest filter in a SUBSCRIBE: its length, one character, its options."""


class Bound(NamedTuple):
    """What a limit is held against.

    Attributes:
        value: How much it may be at most, or must be at least.
        words: That in the words of the configuration.
    """

    value: int
    words: str


BoundOf = Callable[["Config"], Bound | None]
"""What follows from a whole configuration; None: it is off."""


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
        yield _hold_memory(filter_)


def _judge(config: Config, pair: Pair, layers: Sequence[Layer]) -> LapwingError | None:
    value, is_set = _looked_up(config, pair.key)
    bound = pair.bound(config)
    if bound is None or value is None or (pair.only_set and not is_set) or (value == 0 and pair.zero_is_any):
        return None
    if value >= bound.value if pair.is_floor else value <= bound.value:
        return None
    where = place_of(pair.key, layers) or ("given in Python" if is_set else "default")
    limit = f"must be at least {bound.words}" if pair.is_floor else f"is above {bound.words}"
    change = "raise the first or lower the second" if pair.is_floor else "lower the first or raise the second"
    return LapwingError(
        f"{show_key(pair.key)} = {_shown(pair.key, value)}", where=where, remedy=f"{limit}: {pair.otherwise}; {change}"
    )


def _looked_up(config: Config, key: KeyPath) -> tuple[Any, bool]:
    """The value, and whether somebody has set it to something else than its default."""
    table: Any = config
    for name in key[:-1]:
        table = (
            table[int(name)]
            if isinstance(table, list)
            else table[name]
            if isinstance(table, dict)
            else getattr(table, name)
        )
    value = getattr(table, key[-1])
    # Not only whether it is there: what `config show` writes has every default.
    return value, value != type(table).model_fields[key[-1]].default


def _shown(key: KeyPath, value: int) -> str:
    if "expiry" in key[-1]:
        return show_duration(value * 1_000)
    if "ttl" in key[-1] or key[-1].startswith("jwks_"):
        return show_duration(value)
    return show_size(value) if "bytes" in key[-1] else str(value)


def _named(*key: str, factor: Callable[[int], int] = lambda value: value, words: str = "") -> BoundOf:
    """A bound that is another limit, or follows from it; none where that one is 0: "off" for all that may be 0."""

    def bound(config: Config) -> Bound | None:
        value, _ = _looked_up(config, key)
        if value == 0:
            return None
        return Bound(factor(value), f"{words}{show_key(key)} = {_shown(key, value)}")

    return bound


def _subscriptions(config: Config) -> Bound:
    most = config.limits.subscriptions_per_session_max
    return Bound(most, f"limits.subscriptions_per_session_max = {most}")


def largest_packet(config: Config) -> int:
    """The largest packet that any listener takes, in bytes."""
    most = config.limits.packet_bytes_max
    own = [listener.packet_bytes_max or most for listener in config.listeners]
    # Where there is [[listeners]], broker.listen has to be set to count.
    has_plain = not own or "listen" in config.broker.model_fields_set
    return max([*own, most] if has_plain else own)


def _packet(besides: int = 0) -> Callable[[Config], Bound]:
    def bound(config: Config) -> Bound:
        most = largest_packet(config)
        return Bound(
            most - besides, f"packet_bytes_max = {show_size(most)}{' and what is in a packet' if besides else ''}"
        )

    return bound


def _memory_of_one(config: Config) -> Bound | None:
    """What one packet may be, so that it leaves memory for others, and finds room among what is retained."""
    high = config.limits.memory_high_bytes
    if high == 0:
        return None
    is_retained = config.limits.retained_bytes_max > 0 and config.limits.retained_messages_max > 0
    words = f"limits.memory_high_bytes = {show_size(high)}"
    return Bound(high // 2, f"half of {words}, all that is retained") if is_retained else Bound(high, words)


def _memory_in_memory(config: Config) -> Bound | None:
    """What waits takes memory where it is not on disk."""
    return _named("limits", _HIGH)(config) if config.broker.durability == "memory" else None


def _token_room(config: Config) -> Bound | None:
    if not config.auth.jwt.algorithms:
        return None
    most = config.limits.connect_bytes_max - _CONNECT_BYTES
    return Bound(most, f"what limits.connect_bytes_max = {show_size(most + _CONNECT_BYTES)} leaves for it")


def _asked_for_notes(config: Config) -> Bound | None:
    is_meant = config.envelope.stamp == "always"
    return Bound(1, 'the one with which clients ask, envelope.stamp = "always"') if is_meant else None


def _user_properties(config: Config) -> Bound:
    most = largest_packet(config)
    words = f"what fits in packet_bytes_max = {show_size(most)}, {_USER_PROPERTY_BYTES} bytes for each"
    return Bound(most // _USER_PROPERTY_BYTES, words)


def _filters(config: Config) -> Iterator[tuple[str, str]]:
    """Topic filters for which something is configured, and where."""
    for name, stream in config.streams.items():
        yield f"streams.{name}.filter", stream.filter
    for name, group in config.groups.items():
        yield from ((f"groups.{name}.filters", filter_) for filter_ in group.filters)
    for table in ("hold", "topics"):
        yield from ((f"{table}.{filter_}", filter_) for filter_ in getattr(config, table))


def _deepest_filter(config: Config) -> Bound | None:
    return _of_filters(config, lambda topic: topic.count("/") + 1, "levels")


def _longest_filter(config: Config) -> Bound | None:
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


def _places(config: Config) -> Bound:
    places = config.limits.connections_max + config.limits.sessions_offline_max
    return Bound(places, f"limits.connections_max + limits.sessions_offline_max = {places}")


def _declared(config: Config) -> Bound:
    groups = sum(len(group.filters) for group in config.groups.values())
    return Bound(groups, f"the {groups} groups that are declared under [groups]")


def _most(key: str, bound: BoundOf, otherwise: str, **more: bool) -> Pair:
    return Pair(tuple(key.split(".")), False, bound, otherwise, **more)


def _least(key: str, bound: BoundOf, otherwise: str, **more: bool) -> Pair:
    return Pair(tuple(key.split(".")), True, bound, otherwise, **more)


_HIGH = "memory_high_bytes"
_ONE_PACKET = "one packet would fill it"

PAIRS: tuple[Pair, ...] = (
    # What a connection has waiting.
    _most(
        "limits.output_high_bytes",
        _named("limits", "output_bytes_max"),
        "a connection would end before anything is dropped for it",
        only_set=False,
    ),
    _most("limits.output_bytes_max", _named("limits", _HIGH), "memory would be short before it is reached"),
    # The memory of all.
    _most(
        "limits.memory_high_bytes",
        _named("limits", "memory_max_bytes"),
        "everything would stop before connections are refused",
        only_set=False,
    ),
    _most("limits.packet_bytes_max", _memory_of_one, _ONE_PACKET, only_set=False),
    _most(
        "limits.retained_bytes_max",
        _named("limits", _HIGH, factor=lambda high: high // 2, words="half of "),
        "retained messages would leave no memory for clients",
    ),
    _most("limits.queue_memory_bytes", _named("limits", _HIGH), "memory would be short before it is reached"),
    _most("limits.queue_bytes_max", _memory_in_memory, "memory would be short before it is reached"),
    _most("limits.log_lane_bytes", _named("limits", _HIGH), "memory would be short before it is reached"),
    _most(
        "limits.strangers_bytes_max",
        _named("limits", _HIGH, factor=lambda high: high // 4, words="a quarter of "),
        "it has no effect",
    ),
    # What a session may have, and whether a packet may ask for it.
    _least(
        "limits.filters_per_packet_max",
        _subscriptions,
        "a client that subscribes to all that it may have in one packet, as some do when they come back, would never"
        " have it; 0 takes all that fit in a packet",
        only_set=False,
        zero_is_any=True,
    ),
    _most(
        "limits.subscriptions_per_session_max",
        lambda config: Bound(
            largest_packet(config) // _FILTER_BYTES,
            f"what fits in packet_bytes_max = {show_size(largest_packet(config))}, {_FILTER_BYTES} bytes for each",
        ),
        "a client that subscribes to all that it has in one packet, as some do when they come back, would be cut off",
    ),
    _most("limits.groups_per_session_max", _subscriptions, "each group takes a subscription"),
    _most("limits.groups_per_session_max", _named("dispatch", "groups_max"), "there are no more groups"),
    _most("limits.groups_per_identity_max", _named("dispatch", "groups_max"), "there are no more groups"),
    _most("limits.sessions_per_identity_max", _places, "there are no more sessions"),
    _most("dispatch.members_per_group_max", _places, "there are no more sessions"),
    _most(
        "limits.retained_messages_per_identity_max",
        _named("limits", "retained_messages_max"),
        "there are no more retained messages",
    ),
    _most(
        "limits.retained_bytes_per_identity_max",
        _named("limits", "retained_bytes_max"),
        "there are no more bytes of retained messages",
    ),
    _least("dispatch.groups_max", _declared, "there is no room for the others", only_set=False),
    # What fits in a packet.
    _most("limits.connect_bytes_max", _packet(), "it has no effect"),
    _most(
        "limits.connect_bytes_max",
        _named("limits", _HIGH, factor=lambda high: high // 4, words="a quarter of "),
        "the largest could not come in",
        only_set=False,
    ),
    _least(
        "limits.connect_bytes_max",
        lambda config: Bound(
            config.limits.client_id_bytes_max + _CONNECT_BYTES,
            f"limits.client_id_bytes_max = {config.limits.client_id_bytes_max} and {_CONNECT_BYTES} bytes around it",
        ),
        "the longest client ids could not come in",
        only_set=False,
    ),
    _most("limits.client_id_bytes_max", _packet(_CONNECT_BYTES), "the longest could not come in"),
    _most("limits.topic_bytes_max", _packet(_PUBLISH_BYTES), "the longest could not come in"),
    _most(
        "limits.topic_levels_max",
        _named("limits", "topic_bytes_max", factor=lambda most: most + 1),
        "a topic of so many levels is longer",
    ),
    _least("limits.topic_levels_max", _deepest_filter, "nothing could match it", only_set=False),
    _least("limits.topic_bytes_max", _longest_filter, "nothing could match it", only_set=False),
    _most("limits.user_properties_max", _user_properties, "there are never so many"),
    _least("limits.user_properties_max", _asked_for_notes, "nobody could ask", only_set=False),
    _most("auth.jwt.token_bytes_max", _token_room, "the longest could not come in", only_set=False),
    # How much is under way.
    _most("limits.bridge_inflight_messages_max", _named("limits", "inflight_messages_max"), "it has no effect"),
    # What is kept.
    _least(
        "limits.retained_bytes_max",
        _packet(),
        "a retained message that is larger could never be kept, and who"
        " publishes it in 3.1.1 cannot be told; 0 keeps none",
        only_set=False,
        zero_is_any=True,
    ),
    _most("limits.session_expiry_v311", _named("limits", "session_expiry_max"), "it has no effect"),
    # Who is no client yet.
    _most("limits.strangers_max", _named("limits", "connections_max"), "it has no effect"),
    _most(
        "limits.strangers_per_address_max",
        _named("limits", "strangers_max", factor=lambda most: most * 3 // 4, words="three quarters of "),
        "it has no effect",
    ),
    _least(
        "limits.strangers_bytes_max",
        _named("limits", "connect_bytes_max"),
        "the largest CONNECT could not come in",
        only_set=False,
    ),
    _most(
        "limits.handshakes_max",
        _named("limits", "connections_max", factor=lambda most: -(-most // 4), words="a quarter of "),
        "it has no effect",
    ),
    _most("limits.handshakes_per_address_max", _named("limits", "handshakes_max"), "it has no effect"),
    _most(
        "auth.failures_name_max",
        _named("auth", "failures_max"),
        "the address would be barred before the name",
        zero_is_any=True,
    ),
    _most("limits.password_checks_max", _named("limits", "strangers_max"), "no more can wait"),
    # What was fetched or answered elsewhere.
    _least(
        "auth.jwt.jwks_stale_max",
        _named("auth", "jwt", "jwks_refresh"),
        "no token would be taken between two fetches",
        only_set=False,
    ),
    _least("auth.jwt.jwks_refresh", _named("auth", "jwt", "jwks_retry"), "it would be fetched less often"),
    _most("auth.http.ttl", _named("auth", "http", "ttl_max"), "it has no effect"),
    _most("auth.http.refused_ttl", _named("auth", "http", "ttl_max"), "it has no effect"),
    # HTTP.
    _most("http.reads_max", _named("http", "connections_max"), "each read takes a connection"),
)
"""The rows that every configuration has, by what they are about."""


def _listener_connections(number: int) -> Pair:
    key = ("listeners", str(number), "connections_max")
    return Pair(key, False, _named("limits", "connections_max"), "it has no effect", zero_is_any=True)


def _listener_packet(number: int) -> Pair:
    key = ("listeners", str(number), "packet_bytes_max")
    return Pair(key, False, _memory_of_one, _ONE_PACKET)


def _stream_retention(name: str) -> Pair:
    key = ("streams", name, "retain_bytes")
    otherwise = "whole segments are deleted, so the stream would always be larger"
    return Pair(key, True, _named("streams", name, "segment_bytes"), otherwise, zero_is_any=True)


def _hold_memory(filter_: str) -> Pair:
    def bound(config: Config) -> Bound | None:
        durability = config.hold[filter_].durability or config.broker.durability
        return _named("limits", _HIGH)(config) if durability == "memory" else None

    return Pair(("hold", filter_, "bytes"), False, bound, "memory would be short before it is reached")
