"""A broker is killed while messages wait for their first subscriber: what is there afterwards, and is it there once?"""

from __future__ import annotations

import signal
import struct
import sys
from pathlib import Path

import pytest
from commands import RunningBroker
from receivers import connected, publish

sys.path.insert(0, str(Path(__file__).parent.parent / "broker"))

import wire
from web import get

EXPIRY = b"\x11" + struct.pack("!I", 3_600)

CONFIG = """\
[hold."h/#"]

[hold."h/volatile/#"]
durability = "memory"
"""


def start(folder: Path, shards: int, config: str = CONFIG) -> RunningBroker:
    """A broker on this folder with these tables."""
    file = folder / "lapwing.toml"
    file.write_text(config)
    settings = ("--config", str(file), "--set", f"broker.shards={shards}")
    return RunningBroker(folder / "data", *settings).wait_until_ready()


@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize("qos", [1, 2])
def test_what_was_acknowledged_waits_on(tmp_path: Path, shards: int, qos: int) -> None:
    sent = [(f"h/{n % 3}", str(n)) for n in range(30)]
    running = start(tmp_path, shards)
    publish(running.url, *sent, qos=qos)
    publish(running.url, ("h/volatile/1", "gone"))
    running.end(signal.SIGKILL)
    running = start(tmp_path, shards)
    with connected(running.url, "first") as first:
        first.subscribe("h/#", qos=qos)
        first.expect(payload for _, payload in sent)
    running.end(signal.SIGKILL)


@pytest.mark.parametrize("shards", [1, 3])
def test_a_kept_session_has_each_once_wherever_the_kill_comes(tmp_path: Path, shards: int) -> None:
    """QoS 2, killed while what waited goes over to a session: does that get each message once, and nobody else any?"""
    for number in range(5):
        sent = [(f"h/{n % 2}", f"{number}-{n}") for n in range(20)]
        running = start(tmp_path, shards)
        publish(running.url, *sent, qos=2)
        sleeper = wire.Wire.client(running.url, f"sleeper-{number}", clean=False, properties=EXPIRY)
        sleeper.send(wire.subscribe(("h/#", 2)))
        for _ in range(number):
            sleeper.receive()
        running.end(signal.SIGKILL)
        sleeper.close()
        running = start(tmp_path, shards)
        with wire.Wire.client(running.url, f"sleeper-{number}", clean=False, properties=EXPIRY) as sleeper:
            # Where the kill came before the SUBSCRIBE was on disk, all of it waits still.
            sleeper.send(wire.subscribe(("h/#", 2)))
            got = [sleeper.receive() for _ in range(len(sent) + 1)]
            came = [packet.payload.decode() for packet in got if packet is not None and packet.kind == wire.PUBLISH]
            assert sorted(came) == sorted(payload for _, payload in sent)
            assert sleeper.round_trip() == []
            with connected(running.url, "late") as late:
                late.subscribe("h/#", qos=2)
                late.expect([])
            sleeper.send(wire.unsubscribe("h/#"))
            sleeper.expect(wire.UNSUBACK)
        running.end(signal.SIGKILL)


def test_a_rule_that_comes_while_they_wait_changes_no_order(tmp_path: Path) -> None:
    """Held on disk first and, by a younger rule, in memory then: has a session that begins later them in order?"""
    held = '[hold."h/#"]\n'
    running = start(tmp_path, 1, held)
    publish(running.url, *(("h/1", f"disk-{n}") for n in range(4)))
    (tmp_path / "lapwing.toml").write_text(held + '[topics."+/1"]\ndurability = "memory"\n')
    running.process.send_signal(signal.SIGHUP)
    wire.until(lambda: in_memory_after_one(running))
    publish(running.url, *(("h/1", f"memory-{n}") for n in range(4)))
    one_at_a_time = EXPIRY + b"\x21" + struct.pack("!H", 1)
    sleeper = wire.Wire.client(running.url, "sleeper", clean=False, properties=one_at_a_time)
    sleeper.subscribe(("h/1", 1))
    assert sleeper.expect(wire.PUBLISH).payload == b"disk-0"
    sleeper.close()
    came = []
    with wire.Wire.client(running.url, "sleeper", clean=False, properties=EXPIRY) as sleeper:
        for _ in range(8):
            message = sleeper.expect(wire.PUBLISH)
            sleeper.send(wire.ack(wire.PUBACK, message.packet_id))
            came.append(message.payload.decode())
    assert came == [f"{where}-{n}" for where in ("disk", "memory") for n in range(4)]
    assert running.end() == 0


def in_memory_after_one(running: RunningBroker) -> bool:
    """Whether the rule holds: a message of a topic that nobody holds is counted as one in memory alone."""
    publish(running.url, ("x/1", "x"))
    metrics = get(f"{running.http}/metrics").text
    return "\nlapwing_messages_in_memory_total 0\n" not in metrics
