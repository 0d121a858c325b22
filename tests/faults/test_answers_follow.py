"""A disk whose syncs take long: every answer that promises something comes behind the sync of what it promises."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import wire
from commands import RunningBroker
from faulty_disk import FaultyDisk

SLOW_MS = 500
DEADLINE_S = 30.0
STAYS = b"\x11" + struct.pack("!I", 3_600)


class Waiting:
    """A client with a session that is kept; what it sends or is sent waits for the disk."""

    sent_s: ClassVar[float]
    """When one of them last sent something: what is waited for follows a sync that began later."""

    def __init__(self, running: RunningBroker, name: str) -> None:
        self.name = name
        self.wire = wire.Wire(running.url)

    def connect(self) -> None:
        """Says so; the answer is somebody else's matter."""
        self.send(wire.connect(self.name, clean=False, properties=STAYS))

    def send(self, packet: bytes) -> None:
        Waiting.sent_s = time.monotonic()
        self.wire.send(packet)

    def expect_later(self, kind: int) -> wire.Packet:
        """The next packet, of this kind, which must not be there before a sync is over that began after the last
        `send`."""
        came = self.wire.receive(DEADLINE_S)
        took_ms = (time.monotonic() - Waiting.sent_s) * 1000
        assert came is not None
        assert came.kind == kind
        assert took_ms >= SLOW_MS, f"{self.name} has it before the disk has what it says"
        return came


@contextmanager
def broker(disk: FaultyDisk, folder: Path) -> Iterator[RunningBroker]:
    flags = ("--set", "broker.shards=2")
    with RunningBroker(folder / "data", *flags, variables=disk.variables).wait_until_ready() as running:
        yield running


@contextmanager
def slow(disk: FaultyDisk) -> Iterator[None]:
    """Each sync takes so long inside this block."""
    disk.begin("slow", SLOW_MS)
    yield
    disk.end("slow")


def kept(running: RunningBroker, name: str) -> Waiting:
    """One whose session has begun, on a disk that is not slow."""
    client = Waiting(running, name)
    client.connect()
    assert client.wire.expect(wire.CONNACK, DEADLINE_S).body[0] == 0
    return client


def test_what_a_session_is_told_of_itself_follows_its_write(disk: FaultyDisk, tmp_path: Path) -> None:
    """CONNACK of a new session and of one that was there, SUBACK, UNSUBACK."""
    with broker(disk, tmp_path) as running, slow(disk):
        client = Waiting(running, "keeper")
        client.connect()
        assert client.expect_later(wire.CONNACK).body[0] == 0
        client.send(wire.subscribe(("stays/#", 1), ("goes/#", 1)))
        client.expect_later(wire.SUBACK)
        client.send(wire.unsubscribe("goes/#"))
        client.expect_later(wire.UNSUBACK)
        client.wire.close()
        client = Waiting(running, "keeper")
        client.connect()
        assert client.expect_later(wire.CONNACK).body[0] == 1, "the session is there"


def test_what_waited_for_a_session_comes_behind_the_word_that_its_client_is_here(
    disk: FaultyDisk, tmp_path: Path
) -> None:
    """QoS 1, which is sent without DUP: the log must not go on to say that it was never sent."""
    with broker(disk, tmp_path) as running:
        sleeper = kept(running, "keeper")
        sleeper.wire.subscribe(("t", 1))
        sleeper.wire.close()
        with wire.Wire.client(running.url, "publisher") as publisher:
            publisher.send(wire.publish("t", b"waits", qos=1))
            publisher.expect(wire.PUBACK, DEADLINE_S)
        with slow(disk):
            client = Waiting(running, "keeper")
            client.connect()
            assert client.expect_later(wire.CONNACK).body[0] == 1
            assert client.wire.expect(wire.PUBLISH, DEADLINE_S).payload == b"waits"


def test_what_a_publisher_is_told_follows_its_write(disk: FaultyDisk, tmp_path: Path) -> None:
    """PUBACK, PUBREC, PUBCOMP: the message is kept for somebody who sleeps, the release for the publisher's session."""
    with broker(disk, tmp_path) as running:
        sleeper, publisher = kept(running, "sleeper"), kept(running, "publisher")
        sleeper.wire.subscribe(("t", 2))
        sleeper.wire.close()
        with slow(disk):
            publisher.send(wire.publish("t", b"1", qos=1, packet_id=1))
            publisher.expect_later(wire.PUBACK)
            publisher.send(wire.publish("t", b"2", qos=2, packet_id=2))
            publisher.expect_later(wire.PUBREC)
            publisher.send(wire.ack(wire.PUBREL, 2))
            publisher.expect_later(wire.PUBCOMP)


def test_what_a_subscriber_is_sent_with_qos_2_follows_its_write(disk: FaultyDisk, tmp_path: Path) -> None:
    """PUBLISH follows its packet id, PUBREL the word that PUBREC has come."""
    with broker(disk, tmp_path) as running:
        subscriber, publisher = kept(running, "subscriber"), kept(running, "publisher")
        subscriber.wire.subscribe(("t", 2))
        with slow(disk):
            publisher.send(wire.publish("t", b"1", qos=2))
            sent = subscriber.expect_later(wire.PUBLISH)
            subscriber.send(wire.ack(wire.PUBREC, sent.packet_id))
            subscriber.expect_later(wire.PUBREL)
