"""``pub``."""

from __future__ import annotations

from dataclasses import dataclass

from lapwing.client.topics import check_topic
from lapwing.errors import ConfigError
from lapwing.shell.given import U32_MAX, Given
from lapwing.shell.verb import Argument, Command, Noun, Option, Verb
from lapwing.shell.verbs.subscribe import AS_CLIENT, QOS

_PROPERTIES = ("--property", "--content-type", "--response-topic", "--correlation-data", "--expiry")


@dataclass(frozen=True)
class Publish(Command):
    """Publish one message, and wait for the broker's answer at QoS 1 and 2.

    Attributes:
        topic: Where to.
        message: The payload, as UTF-8.
        qos: The quality, 0 to 2.
        retain: The broker keeps it.
        properties: User properties, in order (5.0).
        content_type: What the payload is (5.0).
        response_topic: Where to answer (5.0).
        correlation_data: What to answer with, as UTF-8 (5.0).
        expiry_s: Seconds until it is of no use (5.0).
        client_id: Which client; ``None``: the current one.
        packet_id: The packet id to send it with, at QoS 1 and 2; ``None``: the client library chooses.
    """

    topic: str
    message: str
    qos: int = 0
    retain: bool = False
    properties: tuple[tuple[str, str], ...] = ()
    content_type: str | None = None
    response_topic: str | None = None
    correlation_data: str | None = None
    expiry_s: int | None = None
    client_id: str | None = None
    packet_id: int | None = None

    def first_property(self) -> str | None:
        """The option of the first MQTT 5.0 property it has, if any."""
        values = (self.properties or None, self.content_type, self.response_topic, self.correlation_data, self.expiry_s)
        return next((name for name, value in zip(_PROPERTIES, values, strict=True) if value is not None), None)


def _publish(given: Given) -> Publish:
    qos = given.integer("--qos", 0, 2) or 0
    packet_id = given.integer("--packet-id", 1, 65_535)
    if packet_id is not None and qos == 0:
        raise ConfigError("--packet-id at QoS 0", remedy="a message has a packet id at --qos 1 and 2 only")
    response_topic = given.text("--response-topic")
    return Publish(
        check_topic(given.arguments[0]),
        given.arguments[1],
        qos,
        given.flag("--retain"),
        given.pairs("--property"),
        given.text("--content-type"),
        response_topic if response_topic is None else check_topic(response_topic),
        given.text("--correlation-data"),
        given.integer("--expiry", 0, U32_MAX),
        given.text("--id"),
        packet_id,
    )


PUB = Verb(
    "pub",
    "Publish a message; quote it when it has spaces.",
    _publish,
    (Argument("TOPIC", Noun.TOPIC), Argument("MESSAGE")),
    (
        QOS,
        Option("--retain", "The broker keeps it for later subscribers.", short="-r"),
        Option("--property", "User property; repeatable (5.0).", "NAME=VALUE", "-p", repeats=True),
        Option("--content-type", "What the message is (5.0).", "TEXT"),
        Option("--response-topic", "Where to answer (5.0).", "TOPIC", noun=Noun.TOPIC),
        Option("--correlation-data", "What to answer with (5.0).", "TEXT"),
        Option("--expiry", "Of no use after so long (5.0).", "SECONDS"),
        Option("--packet-id", "Send it with this packet id, at QoS 1 and 2; default: a free one.", "N"),
        AS_CLIENT,
    ),
    (
        "pub lamps/kitchen on --retain",
        "pub alarms 'fire on floor 3' --qos 1 -p floor=3",
        "pub t -- --starts-with-dashes",
        "pub t again --qos 1 --packet-id 7",
    ),
)
