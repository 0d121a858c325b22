"""Texts of the bridge's rules: filters that capture, templates with places in braces, names of Kafka topics."""

from __future__ import annotations

import re
from collections.abc import Callable

from lapwing._core import topic_fault
from lapwing.config.streams import parse_filter

PLACE = re.compile(r"\{([^{}]*)\}")
_KAFKA_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
_TEMPLATE_BYTES_MAX = 1_024


def is_kafka_topic(name: str) -> bool:
    """Whether Kafka takes it as the name of a topic."""
    return _KAFKA_TOPIC.fullmatch(name) is not None and name not in (".", "..")


def parse_kafka_topic(name: str) -> str:
    """The name of a Kafka topic.

    Raises:
        ValueError: it cannot be one.
    """
    if not is_kafka_topic(name):
        raise ValueError("must be the name of a Kafka topic: 1 to 249 of letters, digits, '.', '_' and '-'")
    return name


def parse_bridge_filter(text: str) -> str:
    """A topic filter for a rule; those of ``$`` topics are allowed, ``$share`` is not."""
    return parse_filter(text)


def captures_of(topic_filter: str) -> int:
    """How many levels the filter captures; ``#`` is one."""
    return sum(level in ("+", "#") for level in topic_filter.split("/"))


def places(template: str) -> list[str]:
    """What stands in braces, in order."""
    return PLACE.findall(template)


def parse_kafka_template(text: str) -> str:
    """A Kafka topic with captures: ``readings-{1}``.

    Raises:
        ValueError: another place in braces, or text that no topic's name has.
    """
    _parse(text, "a capture, as {1}", str.isdigit)
    parse_kafka_topic(PLACE.sub("x", text))
    return text


def parse_key_template(text: str) -> str:
    """A record's key: ``{client}``, captures, ``{topic}``, ``{property:NAME}``.

    Raises:
        ValueError: another place in braces.
    """
    return _parse(text, "{client}, {topic}, {property:NAME} or a capture, as {1}", _is_key_place)


def parse_mqtt_template(text: str) -> str:
    """An MQTT topic: ``commands/{key}``, ``{topic}``, ``{header:NAME}``.

    Raises:
        ValueError: another place in braces, a wildcard, or a topic of the broker's own.
    """
    _parse(text, "{key}, {topic} or {header:NAME}", lambda p: p in ("key", "topic") or _is_named("header", p))
    # What is filled in later is looked at then: a letter stands for it.
    if fault := topic_fault(PLACE.sub("x", text)):
        raise ValueError(f"is not a topic name: {fault}")
    if text.startswith("$"):
        raise ValueError("must not begin with $: those topics are the broker's own")
    return text


def _is_key_place(place: str) -> bool:
    return place in ("client", "topic") or place.isdigit() or _is_named("property", place)


def _is_named(kind: str, place: str) -> bool:
    head, colon, name = place.partition(":")
    return head == kind and bool(colon and name)


def _parse(text: str, known: str, is_known: Callable[[str], bool]) -> str:
    if not text or len(text.encode("utf-8", "surrogatepass")) > _TEMPLATE_BYTES_MAX:
        raise ValueError(f"must have 1 to {_TEMPLATE_BYTES_MAX} bytes")
    for place in places(text):
        if not is_known(place):
            raise ValueError(f"{{{place}}} is not known here: write {known}")
    if any(brace in PLACE.sub("", text) for brace in "{}"):
        raise ValueError(f"has a brace that stands alone: braces are for {known}")
    return text
