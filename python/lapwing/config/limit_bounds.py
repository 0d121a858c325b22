"""What limits are held against: other limits, or what follows from a whole configuration, with words for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from lapwing.config.layers import KeyPath
from lapwing.config.problems import show_key
from lapwing.config.profiles import default_of
from lapwing.config.units import show_duration, show_size

if TYPE_CHECKING:
    from lapwing.config.model import Config

MEMORY_HIGH = "memory_high_bytes"
CONNECT_BYTES = 16
"""A CONNECT of 5.0 around its client id."""
PUBLISH_BYTES = 10
"""A PUBLISH of 5.0 around its topic, without payload."""
_USER_PROPERTY_BYTES = 5
"""The shortest one: its identifier, and two empty strings with their lengths."""
FILTER_BYTES = 4
"""The shortest filter in a SUBSCRIBE: its length, one character, its options."""

_IN_MS = ("expiry", "ttl", "timeout", "_after", "_age")
"""In names of keys whose times are in milliseconds; ``expiry`` is in seconds but for holds."""


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


def looked_up(config: Config, key: KeyPath) -> tuple[Any, bool]:
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
    return value, value != default_of(config.broker.profile, key, type(table))


def shown(key: KeyPath, value: int) -> str:
    """A value in the words of the configuration, with the unit that its key has."""
    if "expiry" in key[-1] and key[0] != "hold":
        return show_duration(value * 1_000)
    if any(word in key[-1] for word in _IN_MS) or key[-1].startswith("jwks_"):
        return show_duration(value)
    return show_size(value) if "bytes" in key[-1] else str(value)


def other_limit(*key: str, factor: Callable[[int], int] = lambda value: value, words: str = "") -> BoundOf:
    """A bound that is another limit, or follows from it; none where that one is 0: "off" for all that may be 0."""

    def bound(config: Config) -> Bound | None:
        value, _ = looked_up(config, key)
        if value == 0:
            return None
        return Bound(factor(value), f"{words}{show_key(key)} = {shown(key, value)}")

    return bound


def subscriptions(config: Config) -> Bound:
    """What one session may have subscribed to."""
    most = config.limits.subscriptions_per_session_max
    return Bound(most, f"limits.subscriptions_per_session_max = {most}")


def largest_packet(config: Config) -> int:
    """The largest packet that any listener takes, in bytes."""
    most = config.limits.packet_bytes_max
    own = [listener.packet_bytes_max or most for listener in config.listeners]
    # Where there is [[listeners]], broker.listen has to be set to count.
    has_plain = not own or (bool(config.broker.listen) and "listen" in config.broker.model_fields_set)
    return max([*own, most] if has_plain else own)


def packet_room(besides: int = 0) -> Callable[[Config], Bound]:
    """What is left of the largest packet, ``besides`` what else is in it."""

    def bound(config: Config) -> Bound:
        most = largest_packet(config)
        return Bound(
            most - besides, f"packet_bytes_max = {show_size(most)}{' and what is in a packet' if besides else ''}"
        )

    return bound


def memory(factor: Callable[[int], int] = lambda high: high, words: str = "") -> BoundOf:
    """What there is for clients and messages: ``memory_high_bytes``, which is never above ``memory_max_bytes``."""

    def bound(config: Config) -> Bound | None:
        key = MEMORY_HIGH if config.limits.memory_high_bytes else "memory_max_bytes"
        return other_limit("limits", key, factor=factor, words=words)(config)

    return bound


def memory_of_one(config: Config) -> Bound | None:
    """What one packet may be, so that it leaves memory for others, and finds room among what is retained."""
    is_retained = config.limits.retained_bytes_max > 0 and config.limits.retained_messages_max > 0
    if not is_retained:
        return memory()(config)
    half = memory(lambda high: high // 2, "half of ")(config)
    return half and Bound(half.value, f"{half.words}, all that is retained")


def memory_in_memory(config: Config) -> Bound | None:
    """What waits takes memory where it is not on disk."""
    return memory()(config) if config.broker.durability == "memory" else None


def token_room(config: Config) -> Bound | None:
    """What a token in a CONNECT may have; none where no tokens are taken."""
    if not config.auth.jwt.algorithms:
        return None
    most = config.limits.connect_bytes_max - CONNECT_BYTES
    return Bound(most, f"what limits.connect_bytes_max = {show_size(most + CONNECT_BYTES)} leaves for it")


def time_to_connect(is_on: Callable[[Config], bool]) -> BoundOf:
    """How long a CONNECT may take, with what somebody outside has to say to it; none where nobody is asked."""
    most = other_limit("limits", "connect_timeout")
    return lambda config: most(config) if is_on(config) else None


def asked_for_notes(config: Config) -> Bound | None:
    """The user property with which clients ask for stamps, where that is meant."""
    is_meant = config.envelope.stamp == "always"
    return Bound(1, 'the one with which clients ask, envelope.stamp = "always"') if is_meant else None


def user_properties(config: Config) -> Bound:
    """How many user properties fit in the largest packet."""
    most = largest_packet(config)
    words = f"what fits in packet_bytes_max = {show_size(most)}, {_USER_PROPERTY_BYTES} bytes for each"
    return Bound(most // _USER_PROPERTY_BYTES, words)


def places(config: Config) -> Bound:
    """All sessions that there may be."""
    places = config.limits.connections_max + config.limits.sessions_offline_max
    return Bound(places, f"limits.connections_max + limits.sessions_offline_max = {places}")


def own_bridge(bound: BoundOf) -> BoundOf:
    """A bound of the bridge of the same file, where it connects to this broker, as far as its port tells."""

    def of_own(config: Config) -> Bound | None:
        return bound(config) if is_own_bridge(config) else None

    return of_own


def is_own_bridge(config: Config) -> bool:
    """Whether the bridge of the same file has rules, and connects to a port of this broker."""
    bridge = config.bridge
    if not (bridge.to_kafka or bridge.to_mqtt):
        return False
    urls = [*config.broker.listen, *(listener.url for listener in config.listeners)]
    ports = {urlsplit(url).port for url in urls if not url.startswith("unix:")} - {0}
    try:
        return urlsplit(bridge.mqtt.url).port in ports
    except ValueError:
        return False  # it has no port that is one


def declared(config: Config) -> Bound:
    """The groups that the configuration declares."""
    groups = sum(len(group.filters) for group in config.groups.values())
    return Bound(groups, f"the {groups} groups that are declared under [groups]")


def longest_expiry(config: Config) -> Bound | None:
    """The longest that any message may wait before it expires, in milliseconds; None: there are some with no bound."""
    own = [table.message_expiry_max for table in config.topics.values() if table.message_expiry_max is not None]
    most = config.limits.message_expiry_max
    if most == 0 or 0 in own:
        return None
    longest = max([most, *own])
    where = "limits" if longest == most else "[topics]"
    return Bound(longest * 1_000, f"message_expiry_max = {show_duration(longest * 1_000)} of {where}")
