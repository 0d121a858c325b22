"""What a Kafka record is as an MQTT message by one rule. Pure: a record in, a publication out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lapwing.bridge.mapping import Headers
from lapwing.bridge.template import fill, parse
from lapwing.config.bridge import ToMqtt
from lapwing.config.topics import parse_topic
from lapwing.contracts import kafka_record as names
from lapwing.contracts.kafka_record import RESERVED


class Source(NamedTuple):
    """A record as Kafka gave it."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Headers


class Publication(NamedTuple):
    """A message for the broker."""

    topic: str
    payload: bytes
    user_properties: list[tuple[str, str]]
    content_type: str | None
    response_topic: str | None
    correlation_data: bytes | None


class BackMapping:
    """One rule, made ready."""

    def __init__(self, rule: ToMqtt) -> None:
        self._to = parse(rule.to)

    def publication(self, source: Source) -> Publication | str:
        """The message, or in words why there can be none."""
        texts = _texts(source.headers)
        places = {f"header:{name}": text for name, text in reversed(texts)} | {"topic": source.topic}
        if source.key is not None and (key := _text(source.key)) is not None:
            places["key"] = key
        topic = fill(self._to, places)
        if topic is None:
            missing = next(place for place in self._to.places if place not in places)
            return f"the record has nothing for {{{missing}}}"
        try:
            parse_topic(topic)
        except ValueError as problem:
            return f"topic {topic[:300]!r} {problem}"
        first = dict(reversed(texts))
        position = f"{source.topic}/{source.partition}/{source.offset}"
        return Publication(
            topic,
            source.value or b"",
            [(names.KAFKA_POSITION, position), *((name, text) for name, text in texts if name not in RESERVED)],
            first.get(names.CONTENT_TYPE),
            first.get(names.RESPONSE_TOPIC),
            next((_bytes(value) for name, value in source.headers if name == names.CORRELATION_DATA), None),
        )


def _texts(headers: Sequence[tuple[str, str | bytes]]) -> list[tuple[str, str]]:
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
