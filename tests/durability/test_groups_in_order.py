"""Kept groups whose messages wait: for room in a session they are handed over to, or for the start of the node."""

from __future__ import annotations

import signal
import struct
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "broker"))

import pytest
import wire
from commands import RunningBroker

EXPIRY = b"\x11" + struct.pack("!I", 3_600)
LETTERS = """\
[groups.crew]
filters = ["jobs/#"]
expired = "dead-letter"
dead_letter_topic = "dead"
"""
SHARDS = 2
SIZE, COUNT, WINDOW = 120_000, 150, 16
PACE_S = 0.004


def kept(running: RunningBroker, client_id: str, receive_buffer_bytes: int | None = None) -> wire.Wire:
    """A client whose session stays."""
    client = wire.Wire(running.url, receive_buffer_bytes=receive_buffer_bytes)
    client.send(wire.connect(client_id, clean=False, properties=EXPIRY))
    assert client.expect(wire.CONNACK).reason == 0
    return client


def publish_all(publisher: wire.Wire) -> None:
    """Numbered messages of QoS 2, some under way at a time."""
    sent = done = 0
    while done < COUNT:
        while sent < COUNT and sent - done < WINDOW:
            sent += 1
            publisher.send(wire.publish("t", b"%06d" % sent + bytes(SIZE), qos=2, packet_id=sent))
        found = publisher.receive()
        assert found
        if found.kind == wire.PUBREC:
            publisher.send(wire.ack(wire.PUBREL, found.packet_id))
        done += found.kind == wire.PUBCOMP


def numbers(member: wire.Wire) -> Iterator[int]:
    """Of the messages that come, each acknowledged to its end."""
    while found := member.receive():
        if found.kind == wire.PUBLISH:
            member.send(wire.ack(wire.PUBREC, found.packet_id))
            yield int(found.payload[:6])
            # Slower than it comes: its session has room now and then.
            time.sleep(PACE_S)
        elif found.kind == wire.PUBREL:
            member.send(wire.ack(wire.PUBCOMP, found.packet_id))


def test_what_waits_for_room_is_not_overtaken_by_what_comes_by_mail(tmp_path: Path) -> None:
    """The group is on one shard, its only member on the other, and reads less than comes: QoS 2, one publisher."""
    owner = wire.shard_of("g/t", SHARDS)
    with RunningBroker(tmp_path, "--set", f"broker.shards={SHARDS}").wait_until_ready() as running:
        member = kept(running, wire.name_on(1 - owner, SHARDS, "m"), receive_buffer_bytes=8_192)
        member.subscribe(("$share/g/t", 2))
        publisher = kept(running, wire.name_on(owner, SHARDS, "p"))
        publishing = threading.Thread(target=publish_all, args=[publisher], daemon=True)
        publishing.start()
        came = numbers(member)
        assert [next(came) for _ in range(COUNT)] == list(range(1, COUNT + 1))
        publishing.join(wire.TIMEOUT_S)
        assert not publishing.is_alive()
        member.close()
        publisher.close()
        assert running.end() == 0


@pytest.mark.parametrize("stop", [signal.SIGKILL, signal.SIGTERM])
def test_letters_of_what_expired_meanwhile_come_to_every_shard(tmp_path: Path, stop: signal.Signals) -> None:
    """The other shard has more to bring back, and has not told yet who reads letters as the group comes back."""
    file = tmp_path / "lapwing.toml"
    file.write_text(LETTERS)
    flags = ("--config", str(file), "--set", f"broker.shards={SHARDS}")
    other = 1 - wire.shard_of("crew/jobs/#", SHARDS)
    reader = wire.name_on(other, SHARDS, "reader")
    with RunningBroker(tmp_path / "data", *flags).wait_until_ready() as running:
        with kept(running, reader) as client:
            client.subscribe(("dead", 1))
        for number in range(5):
            with kept(running, wire.name_on(other, SHARDS, f"bulk-{number}-")) as client:
                client.subscribe(*((f"x/{number}/{filter_}", 1) for filter_ in range(200)))
        with kept(running, "publisher") as client:
            for number in (1, 2, 3):
                expiry = b"\x02" + struct.pack("!I", 1)
                client.send(wire.publish("jobs/a", b"%d" % number, qos=1, packet_id=number, properties=expiry))
                assert client.expect(wire.PUBACK).packet_id == number
        if stop == signal.SIGKILL:
            running.process.kill()
        else:
            assert running.end() == 0
    expired_at = time.time() + 1.1
    wire.until(lambda: time.time() > expired_at)
    with RunningBroker(tmp_path / "data", *flags).wait_until_ready() as running, kept(running, reader) as client:
        letters = []
        for _ in range(3):
            letter = client.expect(wire.PUBLISH)
            client.send(wire.ack(wire.PUBACK, letter.packet_id))
            letters.append(letter.payload)
        assert letters == [b"1", b"2", b"3"]
