"""What the rules about limits come to for a whole configuration: a number, and words for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from lapwing.config.layers import KeyPath
from lapwing.config.limit_pair import BoundRule, Pair, When
from lapwing.config.limit_topics import BRIDGE_TOPICS, TOPIC_PLACES, TopicPlace, filled, shortest
from lapwing.config.problems import show_key
from lapwing.config.profiles import default_of
from lapwing.config.units import show_duration, show_number, show_size

if TYPE_CHECKING:
    from lapwing.config.model import Config


class Bound(NamedTuple):
    """What a limit is held against.

    Attributes:
        value: How much it may be at most, or must be at least.
        words: That in the words of the configuration.
    """

    value: int
    words: str


class _Measured(NamedTuple):
    """What a rule begins with: a number, and the parts of its words."""

    value: int
    parts: tuple[str, ...] = ()
    key: str = ""
    shown: str = ""
    where: str = ""


def bound_of(config: Config, pair: Pair, entry: str) -> Bound | None:
    """What ``pair`` is held against; None: nothing, or that is off.

    Args:
        config: The whole configuration.
        pair: Of it.
        entry: What ``@`` stands for.
    """
    held = (rule for rule in pair.bounds if all(_holds(config, when, entry) for when in rule.when))
    rule = next(held, None)
    measured = rule and _measured(config, rule, entry)
    if rule is None or measured is None:
        return None
    words = rule.words.format(
        *measured.parts, key=measured.key, shown=measured.shown, value=measured.value, where=measured.where
    )
    product = measured.value * rule.times
    return Bound((-(-product // rule.over) if rule.rounds_up else product // rule.over) + rule.plus, words)


def looked_up(config: Config, key: KeyPath) -> tuple[Any, bool]:
    """The value, and whether somebody has set it to something else than its default."""
    table = _table(config, key)
    value = getattr(table, key[-1])
    # Not only whether it is there: what `config show` writes has every default.
    return value, value != default_of(config.broker.profile, key, type(table))


def _table(config: Config, key: KeyPath) -> Any:
    """What the key is in."""
    table: Any = config
    for name in key[:-1]:
        table = _below(table, name)
    return table


def values_at(table: Any, pattern: KeyPath, names: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    """All that there is at a key with ``*`` for each entry, with its key."""
    if table is None:
        return
    if not pattern:
        yield names, table
    elif pattern[0] != "*":
        yield from values_at(_below(table, pattern[0]), pattern[1:], (*names, pattern[0]))
    else:
        entries = table.items() if isinstance(table, dict) else ((str(at), one) for at, one in enumerate(table))
        for name, below in entries:
            yield from values_at(below, pattern[1:], (*names, name))


def _below(table: Any, name: str) -> Any:
    if isinstance(table, list):
        return table[int(name)]
    return table[name] if isinstance(table, dict) else getattr(table, name)


def shown(config: Config, key: KeyPath, value: int) -> str:
    """A value in the words of the configuration, with the unit that its key has."""
    return show_number(value, type(_table(config, key)).model_fields[key[-1]])


def keys_of(key: str, entry: str) -> KeyPath:
    """A key of a rule as one of the configuration."""
    return tuple(entry if name == "@" else name for name in key.split("."))


def _holds(config: Config, when: When, entry: str) -> bool:
    if when.test == "own_bridge":
        return _is_own_bridge(config)
    values = [value for _, value in values_at(config, keys_of(when.key, entry)) if value not in ("", [])]
    match when.test:
        case "is":
            return values == [when.value]
        case "set":
            return bool(values)
        case "unset":
            return not values
        case "above_zero":
            return any(value > 0 for value in values)


def _measured(config: Config, rule: BoundRule, entry: str) -> _Measured | None:
    keys = [keys_of(key, entry) for key in rule.keys]
    match rule.of:
        case "first":
            found = ((key, value) for key in keys if (value := looked_up(config, key)[0]))
            return next((_Measured(value, (), show_key(key), shown(config, key, value)) for key, value in found), None)
        case "sum":
            return _sum(config, keys)
        case "entries":
            return _Measured(sum(1 for key in keys for _ in values_at(config, key)))
        case "largest_packet":
            most = _largest_packet(config)
            return _Measured(most, shown=show_size(most))
        case "topic_levels" | "topic_bytes":
            return _longest_topic(config, in_levels=rule.of == "topic_levels")
        case "longest_expiry":
            return _longest_expiry(config)


def _sum(config: Config, keys: list[KeyPath]) -> _Measured | None:
    total, parts = 0, []
    for key in keys:
        value, _ = looked_up(config, key)
        if value is None:
            return None
        number = len(value.encode()) if isinstance(value, str) else value
        total += number
        parts.append(str(number) if isinstance(value, str) else shown(config, key, number))
    return _Measured(total, tuple(parts))


def _largest_packet(config: Config) -> int:
    """The largest packet that any listener takes, in bytes."""
    most = config.limits.packet_bytes_max
    own = [listener.packet_bytes_max or most for listener in config.listeners]
    # Where there is [[listeners]], broker.listen has to be set to count.
    has_plain = not own or (bool(config.broker.listen) and "listen" in config.broker.model_fields_set)
    return max([*own, most] if has_plain else own)


def _longest_topic(config: Config, *, in_levels: bool) -> _Measured | None:
    """What the shortest topics that match need, so that every filter of the configuration can match one."""

    def measure(topic: str) -> int:
        return topic.count("/") + 1 if in_levels else len(topic.encode())

    places = (*TOPIC_PLACES, BRIDGE_TOPICS) if _is_own_bridge(config) else TOPIC_PLACES
    found = [(measure(topic), where) for place in places for where, topic in _topics(config, place)]
    if not found:
        return None
    most, where = max(found)
    return _Measured(most, where=where)


def _topics(config: Config, place: TopicPlace) -> Iterator[tuple[str, str]]:
    pattern = tuple(place.path.split("."))
    for names, value in values_at(config, pattern):
        if place.needs is not None:
            key, wanted = place.needs
            entries = (name for name, part in zip(names, pattern, strict=True) if part == "*")
            if [found for _, found in values_at(config, filled(key, entries))] != [wanted]:
                continue
        yield show_key(names[: place.shown]), shortest(names[-1] if place.is_name else value, place)


def _is_own_bridge(config: Config) -> bool:
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


def _longest_expiry(config: Config) -> _Measured | None:
    """The longest that any message may wait before it expires; None: there are some with no bound."""
    own = [table.message_expiry_max for table in config.topics.values() if table.message_expiry_max is not None]
    most = config.limits.message_expiry_max
    if most == 0 or 0 in own:
        return None
    longest_ms = max([most, *own]) * 1_000
    where = "limits" if longest_ms == most * 1_000 else "[topics]"
    return _Measured(longest_ms, shown=show_duration(longest_ms), where=where)
