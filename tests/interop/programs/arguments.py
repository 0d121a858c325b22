"""The command line of a client program in Python; see `clients.peer`."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit

from clients.message import Message, Properties
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties as PahoProperties


@dataclass(frozen=True)
class Arguments:
    """What this client is told to do."""

    scheme: str
    host: str
    port: int
    path: str
    version: int
    client_id: str
    ca: str | None
    user: str | None
    password: str | None
    will: Message | None

    @classmethod
    def given(cls) -> Self:
        """From the command line."""
        values = dict(argument.partition("=")[::2] for argument in sys.argv[1:])
        url = urlsplit(values["url"])
        assert url.hostname
        assert url.port
        will = Message.of(values["will"]) if "will" in values else None
        who = (values.get("ca"), values.get("user"), values.get("password"))
        return cls(url.scheme, url.hostname, url.port, url.path, int(values["version"]), values["id"], *who, will)

    @property
    def is_websocket(self) -> bool:
        """Whether MQTT goes in WebSocket frames."""
        return self.scheme in ("ws", "wss")

    def properties(self, message: Message, kind: int = PacketTypes.PUBLISH) -> PahoProperties | None:
        """The message's properties as paho's classes have them, which aiomqtt uses too; None in 3.1.1."""
        if self.version < 5:
            return None
        given, made = message.properties, PahoProperties(kind)  # type: ignore[no-untyped-call]
        names = {
            "PayloadFormatIndicator": int(given.is_text),
            "ContentType": given.content_type,
            "ResponseTopic": given.response_topic,
            "CorrelationData": given.correlation,
            "UserProperty": list(given.user),
        }
        for name, value in names.items():
            if value:
                setattr(made, name, value)
        return made


def received(topic: str, payload: bytes, qos: int, retain: bool, properties: Any) -> Message:
    """A message as it came, from what paho's classes say."""
    return Message(
        topic,
        payload,
        qos,
        retain,
        Properties(
            getattr(properties, "PayloadFormatIndicator", 0) == 1,
            getattr(properties, "ContentType", ""),
            getattr(properties, "ResponseTopic", ""),
            getattr(properties, "CorrelationData", b""),
            tuple(getattr(properties, "UserProperty", ())),
        ),
    )


def say(*words: str) -> None:
    """One line, in one write: threads of a client may print at the same time."""
    sys.stdout.write(" ".join(words) + "\n")
    sys.stdout.flush()
