"""A message as every client of these tests is told to send it and tells what it received: one line of words.

    TOPIC QOS RETAIN PAYLOAD [NAME=VALUE ...]

Payload and the values of properties are in hexadecimal, an empty payload is ``-``, RETAIN is 0 or 1. The properties are
``text=1`` (Payload Format Indicator), ``content``, ``response``, ``correlation``, and ``user=NAME:VALUE``, which may
come several times and keeps its order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True)
class Properties:
    """What MQTT 5.0 lets a publisher say about a message, and asks the broker to hand on unchanged."""

    is_text: bool = False
    content_type: str = ""
    response_topic: str = ""
    correlation: bytes = b""
    user: tuple[tuple[str, str], ...] = ()

    def words(self) -> list[str]:
        """As the line has them; those that are not set are left out."""
        values = {
            "content": self.content_type.encode(),
            "response": self.response_topic.encode(),
            "correlation": self.correlation,
        }
        words = ["text=1"] if self.is_text else []
        words += [f"{name}={value.hex()}" for name, value in values.items() if value]
        return words + [f"user={name.encode().hex()}:{value.encode().hex()}" for name, value in self.user]

    @classmethod
    def of(cls, words: list[str]) -> Self:
        """From the words of a line, in any order."""
        pairs = [word.partition("=")[::2] for word in words]
        values = {name: value for name, value in pairs if name != "user"}
        user = [value.partition(":")[::2] for name, value in pairs if name == "user"]
        return cls(
            values.get("text") == "1",
            bytes.fromhex(values.get("content", "")).decode(),
            bytes.fromhex(values.get("response", "")).decode(),
            bytes.fromhex(values.get("correlation", "")),
            tuple((bytes.fromhex(name).decode(), bytes.fromhex(value).decode()) for name, value in user),
        )


NONE = Properties()


@dataclass(frozen=True)
class Message:
    """One message. `retain`: of a sent one, keep it; of a received one, it was kept."""

    topic: str
    payload: bytes
    qos: int = 0
    retain: bool = False
    properties: Properties = NONE

    def line(self) -> str:
        """As a client program reads and writes it."""
        payload = self.payload.hex() or "-"
        return " ".join([self.topic, str(self.qos), str(int(self.retain)), payload, *self.properties.words()])

    @classmethod
    def of(cls, line: str) -> Self:
        """The message of a line."""
        topic, qos, retain, payload, *words = line.split(" ")
        content = b"" if payload == "-" else bytes.fromhex(payload)
        return cls(topic, content, int(qos), retain == "1", Properties.of(words))
