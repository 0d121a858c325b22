"""Members of groups as raw connections, and what the broker says of them."""

from __future__ import annotations

import contextlib
import json
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Any, Self

import wire
from wire import Packet, Wire, until

from lapwing import Broker

REPORT = "$lapwing/report"
IGNORED = "lapwing_signals_ignored_total"
NEVER_STALLED = {"parameters": {"stall_ms": 0}}
"""Of a group: a machine that stands still for a second sends nobody away."""
UNHURRIED = {"g": NEVER_STALLED}
"""The group that most tests have, so."""


def said(**pairs: object) -> bytes:
    """User properties; an underscore in a name stands for a hyphen, each name begins with ``lapwing-``."""
    named = ((f"lapwing-{name.replace('_', '-')}", str(value)) for name, value in pairs.items())
    return user_properties(*named)


def user_properties(*pairs: tuple[str, str]) -> bytes:
    return b"".join(b"\x26" + wire.text(name) + wire.text(value) for name, value in pairs)


class Member(Wire):
    """A connection that says what it is told to say, and acknowledges when it is told to."""

    early: list[Packet]
    """Probes that came before the SUBACK and were not asked for yet."""

    @classmethod
    def of(
        cls,
        url: str,
        client_id: str,
        share: str | None = "$share/g/t/#",
        *,
        qos: int = 1,
        version: int = 5,
        receive_max: int | None = None,
        declares: bytes = b"",
    ) -> Self:
        """Connected and, unless `share` is None, subscribed."""
        properties = declares + (b"\x21" + struct.pack("!H", receive_max) if receive_max else b"")
        member = cls.client(url, client_id, version=version, properties=properties)
        member.early = []
        if share is not None:
            member.send(wire.subscribe((share, qos), version=version))
            while (found := member.receive()) is not None and found.kind != wire.SUBACK:
                assert found.kind == wire.PUBLISH
                member.early.append(found)
        return member

    def report(self, payload: bytes | None = None, *, qos: int = 0, **said: object) -> None:
        """Publishes on ``$lapwing/report``; returns when the broker has taken it."""
        body = json.dumps(said).encode() if payload is None else payload
        self.send(wire.publish(REPORT, body, qos=qos, version=self.version))
        if qos:
            self.expect(wire.PUBACK if qos == 1 else wire.PUBREC)

    def acknowledge(self, message: Packet, properties: bytes = b"") -> None:
        """PUBACK, with user properties if there are any."""
        self.send(acknowledgement(wire.PUBACK, message.packet_id, properties))

    def work(self, take_s: float = 0.0) -> threading.Thread:
        """Acknowledges each message after so many seconds, until the connection is closed."""

        def run() -> None:
            with contextlib.suppress(OSError, TimeoutError):
                while (found := self.receive()) is not None:
                    if found.kind == wire.PUBLISH:
                        threading.Event().wait(take_s)
                        self.acknowledge(found)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        return thread

    def messages(self, count: int) -> list[Packet]:
        """So many messages, none of them acknowledged."""
        return [self.expect(wire.PUBLISH) for _ in range(count)]

    def probe(self) -> Packet:
        """The next probe."""
        return self.early.pop(0) if self.early else self.expect(wire.PUBLISH)

    def pending(self) -> list[Packet]:
        """Every message that has come before the answer to a PINGREQ."""
        return [found for found in self.round_trip() if found.kind == wire.PUBLISH]


def acknowledgement(kind: int, packet_id: int, properties: bytes) -> bytes:
    body = struct.pack("!H", packet_id)
    return wire.packet(kind << 4, body + (b"\0" + wire.varint(len(properties)) + properties if properties else b""))


def publish(broker: Broker, *messages: bytes, topic: str = "t/a", properties: bytes = b"", qos: int = 1) -> None:
    """Publishes, and returns when the broker has acknowledged all."""
    with Wire.client(broker.url, "publisher") as publisher:
        for number, payload in enumerate(messages, 1):
            publisher.send(wire.publish(topic, payload, qos=qos, packet_id=number, properties=properties))
        for _ in messages if qos else ():
            publisher.expect(wire.PUBACK)


def groups(broker: Broker) -> list[dict[str, Any]]:
    """Everything that the broker says of its groups."""
    return broker.groups()


def group(broker: Broker, name: str = "g") -> dict[str, Any]:
    return next(found for found in groups(broker) if found["name"] == name)


def member(broker: Broker, client_id: str, name: str = "g") -> dict[str, Any]:
    """One member of a group, as the broker judges it now."""
    return next(found for found in group(broker, name)["members"] if found["client_id"] == client_id)


def until_member(broker: Broker, client_id: str, is_so: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The member, as soon as it is so."""
    seen: list[dict[str, Any]] = []

    def look() -> bool:
        seen[:] = [member(broker, client_id)]
        return is_so(seen[0])

    try:
        until(look)
    except AssertionError:
        raise AssertionError(f"the member is {seen}") from None
    return seen[0]


@contextlib.contextmanager
def counted(broker: Broker, name: str, by: float) -> Iterator[None]:
    """What is done inside raises a metric by so much, and no more."""
    before = broker.metrics()[name]
    yield
    until(lambda: broker.metrics()[name] >= before + by)
    assert broker.metrics()[name] == before + by
