"""The interface: subscribe, then receive; publish, and return when the broker has taken everything."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

TIMEOUT_S = 30


@dataclass(frozen=True)
class Sent:
    """A message to publish."""

    topic: str
    payload: bytes
    qos: int


@dataclass(frozen=True)
class Received:
    """A message as the subscriber saw it."""

    topic: str
    payload: bytes
    qos: int


class Subscription(Protocol):
    """An acknowledged subscription."""

    def receive(self, count: int) -> list[Received]:
        """The next `count` messages; fails after TIMEOUT_S."""
        ...


class Peer(Protocol):
    """One client implementation. `version` is MQTT's protocol level: 4 for 3.1.1, 5 for 5.0."""

    name: str

    def missing(self) -> str | None:
        """Why this client cannot run here; None if it can."""
        ...

    def subscribe(
        self, address: tuple[str, int], version: int, topic_filter: str
    ) -> AbstractContextManager[Subscription]:
        """Subscribes at QoS 2; the SUBACK has arrived when the block is entered."""
        ...

    def publish(self, address: tuple[str, int], version: int, messages: Sequence[Sent]) -> None:
        """Publishes in order; every QoS 1 and 2 handshake has ended on return."""
        ...
