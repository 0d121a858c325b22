"""A Kafka record's headers -> the envelope, and back: what `kafka_record` names, as values.

Who reads takes the first header of a name, and a default where it is absent or no such value: a record from a
producer that knows nothing of all this is a message all the same. Clocks are decimal microseconds since the epoch.
Every header that is not one of ours is a user property; one whose name is ours is escaped with `ESCAPE`, so that
nobody can say of himself what the broker says of him, and nothing of the message is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from lapwing.contracts import kafka_record as names
from lapwing.contracts.clocks import DATE_US_MAX

ESCAPE = "property-"
"""Before the name of a user property that is called as one of our headers is."""

CLOCK_US_MAX = DATE_US_MAX
"""The last microsecond of the year 9999: what tables can hold. A clock above it, or below 0, is none."""
_CLOCK = re.compile(r"[0-9]{1,18}")

Headers = list[tuple[str, bytes]]


@dataclass(frozen=True, slots=True)
class KafkaEnvelope:
    """What the headers of a record say of a message; None and empty text: unknown."""

    topic: str
    client_id: str = ""
    qos: int = 0
    retain: bool = False
    user_properties: tuple[tuple[str, str], ...] = ()
    session: str = ""
    message_id: str = ""
    ingress_at_us: int | None = None
    forwarded_at_us: int | None = None
    sent_at_us: int | None = field(default=None, compare=False)
    """The device's own word: it stands among the user properties, and is read from there."""


def headers(envelope: KafkaEnvelope) -> Headers:
    """The headers of a record, as a bridge writes them."""
    named = (
        (names.TOPIC, envelope.topic),
        (names.FORWARDED_US, _clock_text(envelope.forwarded_at_us)),
        (names.CLIENT, envelope.client_id),
        (names.SESSION, envelope.session),
        (names.QOS, str(envelope.qos)),
        (names.MESSAGE_ID, envelope.message_id),
        (names.INGRESS_US, _clock_text(envelope.ingress_at_us)),
        (names.RETAIN, "1" if envelope.retain else ""),
    )
    known = [(name, text.encode()) for name, text in named if text]
    return known + [(escaped(name), value.encode()) for name, value in envelope.user_properties]


def escaped(name: str) -> str:
    """The header of a user property."""
    return ESCAPE + name if name in names.RESERVED or name.startswith(ESCAPE) else name


def property_name(header: str) -> str | None:
    """The user property that a header is; None: it is one of ours."""
    return None if header in names.RESERVED else header.removeprefix(ESCAPE)


def read_envelope(found: Iterable[tuple[str, bytes | None]], *, topic: str, key: bytes | None = None) -> KafkaEnvelope:
    """What the headers say, with defaults for what they do not.

    Args:
        found: A record's headers, in order.
        topic: The Kafka topic, which stands in for an MQTT topic that is not said.
        key: The record's key, which stands in for a client id.
    """
    first: dict[str, str | None] = {}
    properties: list[tuple[str, str]] = []
    for header, value in found:
        text, name = _text(value), property_name(header)
        first.setdefault(header, text)
        if name is not None and text is not None:
            properties.append((name, text))
    qos = first.get(names.QOS)
    return KafkaEnvelope(
        topic=first.get(names.TOPIC) or topic,
        client_id=first.get(names.CLIENT) or _text(key) or "",
        qos=int(qos) if qos in ("0", "1", "2") else 0,
        retain=first.get(names.RETAIN) == "1",
        user_properties=tuple(properties),
        session=first.get(names.SESSION) or "",
        message_id=_message_id(first.get(names.MESSAGE_ID)),
        ingress_at_us=_clock(first.get(names.INGRESS_US)),
        forwarded_at_us=_clock(first.get(names.FORWARDED_US)),
        sent_at_us=_clock(first.get(names.SENT_AT_US)),
    )


def _message_id(text: str | None) -> str:
    return text if text and len(text) <= names.MESSAGE_ID_CHARS_MAX else ""


def _clock_text(clock_us: int | None) -> str:
    return "" if clock_us is None else str(clock_us)


def _clock(text: str | None) -> int | None:
    if text is None or _CLOCK.fullmatch(text) is None:
        return None
    clock_us = int(text)
    return clock_us if clock_us <= CLOCK_US_MAX else None


def _text(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None
