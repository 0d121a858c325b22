"""What a Kafka record is as an MQTT message by one rule. Pure: a record in, a publication out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lapwing._core import topic_fault
from lapwing.bridge.record import Headers
from lapwing.bridge.template import fill, parse
from lapwing.config.bridge import ToMqtt
from lapwing.config.topics import parse_topic
from lapwing.contracts import kafka_record as names
from lapwing.contracts.kafka_record import RESERVED, Reason

_TEXT_BYTES_MAX = 65_535
"""Of a text or binary field, by the protocol."""


class Source(NamedTuple):
    """A record as Kafka gave it."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Headers
    taken_in_us: int = 0
    """When Kafka took it in, or its producer says so, in microseconds since the epoch; 0: unknown."""
    problem: str = ""
    """Why its headers could not be read."""


class Unfit(NamedTuple):
    """Why a record can be no message."""

    reason: Reason
    words: str


class Publication(NamedTuple):
    """A message for the broker."""

    topic: str
    payload: bytes
    user_properties: list[tuple[str, str]]
    content_type: str | None
    response_topic: str | None
    correlation_data: bytes | None


class BackMapping:
    """One rule, made ready.

    A broker ends the connection over a message beyond its limits, so what they are has to be known here: the same
    message would be sent for ever.

    Args:
        rule: The rule.
        topic_levels_max: Levels of a topic that the broker takes.
        user_properties_max: User properties of a message that it takes; one of them is ours.
    """

    def __init__(self, rule: ToMqtt, *, topic_levels_max: int, user_properties_max: int) -> None:
        self._to = parse(rule.to)
        self._topic_levels_max = topic_levels_max
        self._user_properties_max = user_properties_max

    def publication(self, source: Source) -> Publication | Unfit:
        """The message, or why there can be none."""
        if source.problem:
            return Unfit(Reason.INVALID, source.problem)
        texts = _texts(source.headers)
        topic = self._topic(source, texts)
        if isinstance(topic, Unfit):
            return topic
        first = dict(reversed(texts))
        position = f"{source.topic}/{source.partition}/{source.offset}"
        made = Publication(
            topic,
            source.value or b"",
            [(names.KAFKA_POSITION, position), *((name, text) for name, text in texts if name not in RESERVED)],
            first.get(names.CONTENT_TYPE),
            first.get(names.RESPONSE_TOPIC),
            next(
                (
                    _bytes(value)
                    for name, value in source.headers
                    if name == names.CORRELATION_DATA and value is not None
                ),
                None,
            ),
        )
        problem = self._too_many(made) or _problem(made)
        return Unfit(Reason.INVALID, problem) if problem else made

    def _topic(self, source: Source, texts: Sequence[tuple[str, str]]) -> str | Unfit:
        places = {f"header:{name}": text for name, text in reversed(texts)} | {"topic": source.topic}
        if source.key is not None and (key := _text(source.key)) is not None:
            places["key"] = key
        topic = fill(self._to, places)
        if topic is None:
            missing = next(place for place in self._to.places if place not in places)
            return Unfit(Reason.BAD_TOPIC, f"the record has nothing for {{{missing}}}")
        try:
            parse_topic(topic)
        except ValueError as problem:
            return Unfit(Reason.BAD_TOPIC, f"topic {topic[:300]!r} {problem}")
        if (levels := topic.count("/") + 1) > self._topic_levels_max:
            words = f"topic {topic[:300]!r} has {levels} levels, more than mqtt.topic_levels_max"
            return Unfit(Reason.BAD_TOPIC, f"{words} = {self._topic_levels_max}")
        return topic

    def _too_many(self, made: Publication) -> str:
        count, most = len(made.user_properties), self._user_properties_max
        return f"{count} user properties are more than mqtt.user_properties_max = {most}" if count > most else ""


def _problem(made: Publication) -> str:
    """What no MQTT message can have in its properties; empty: nothing."""
    for name, text in made.user_properties:
        if max(_size(name), _size(text)) > _TEXT_BYTES_MAX:
            return f"header {name[:100]!r} has more than {_TEXT_BYTES_MAX} bytes"
    if _size(made.content_type or "") > _TEXT_BYTES_MAX:
        return f"the content type has more than {_TEXT_BYTES_MAX} bytes"
    if len(made.correlation_data or b"") > _TEXT_BYTES_MAX:
        return f"the correlation data has more than {_TEXT_BYTES_MAX} bytes"
    answer = made.response_topic
    if answer is not None and (fault := topic_fault(answer)):
        return f"response topic {answer[:300]!r} is not a topic name: {fault}"
    return ""


def _size(text: str) -> int:
    return len(text.encode())


def _texts(headers: Headers) -> list[tuple[str, str]]:
    """Headers whose values are text; MQTT has no others."""
    found = ((name, value if isinstance(value, str) else _text(value)) for name, value in headers if value is not None)
    return [(name, text) for name, text in found if text is not None and "\0" not in name]


def _text(raw: bytes) -> str | None:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value
