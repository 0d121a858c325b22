"""A retained message is cleared and set again at QoS 2, the broker is killed, and the client sends both again."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest
from commands import RunningBroker

sys.path.insert(0, str(Path(__file__).parent.parent / "broker"))

import wire

ROUNDS = 6
EXPIRY = b"\x11" + struct.pack("!I", 3_600)


def send_both(publisher: wire.Wire, *, dup: bool) -> None:
    """Clears the topic, and sets it; up to the PUBRECs, as far as the publisher knows."""
    for packet_id, payload in ((1, b""), (2, b"new")):
        publisher.send(wire.publish("r", payload, qos=2, packet_id=packet_id, retain=True, dup=dup))
    for packet_id in (1, 2):
        assert publisher.expect(wire.PUBREC).packet_id == packet_id


@pytest.mark.parametrize("shards", [1, 2])
def test_what_came_behind_a_clearing_message_stays(tmp_path: Path, shards: int) -> None:
    """Killed right behind the PUBRECs: what the disk has heard of them differs from round to round."""
    for number in range(ROUNDS):
        name, flags = f"publisher-{number}", ("--set", f"broker.shards={shards}")
        with RunningBroker(tmp_path, *flags).wait_until_ready() as running:
            publisher = wire.Wire.client(running.url, name, clean=False, properties=EXPIRY)
            send_both(publisher, dup=False)
            running.process.kill()
            publisher.close()
        with RunningBroker(tmp_path, *flags).wait_until_ready() as running:
            with wire.Wire.client(running.url, name, clean=False, properties=EXPIRY) as publisher:
                send_both(publisher, dup=True)
            with wire.Wire.client(running.url, "reader") as reader:
                reader.subscribe("r")
                assert reader.expect(wire.PUBLISH).payload == b"new"
            running.process.kill()
