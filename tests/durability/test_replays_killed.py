"""The broker ends amid a replay of retained messages: the session that is there again gets the rest."""

from __future__ import annotations

import signal
import struct
from pathlib import Path

import pytest
import wire
from commands import RunningBroker
from test_sessions_killed import DEADLINE_S, SHARDS, broker, kept

from lapwing import Client

TOPICS = frozenset(f"r/{number}" for number in range(3_000))
# A session that stays, and Receive Maximum 5.
SLOW = b"\x11" + struct.pack("!I", 3_600) + b"\x21" + struct.pack("!H", 5)


def retain(running: RunningBroker) -> None:
    """Each topic has a retained message, and the broker has said so."""
    with Client(running.url, client_id="publisher") as client:
        for topic in TOPICS:
            client.publish(topic, "on", qos=2, retain=True)
        client.flush()


@SHARDS
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("qos", [1, 2])
def test_the_rest_of_a_replay_comes_after_a_restart(tmp_path: Path, shards: int, end: signal.Signals, qos: int) -> None:
    with broker(tmp_path, shards) as running:
        retain(running)
        client = wire.Wire.client(running.url, "keeper", clean=False, properties=SLOW)
        client.subscribe(("r/#", qos))
        client.expect(wire.PUBLISH, DEADLINE_S)
        running.end(end)
    client.close()
    missing = set(TOPICS)
    with broker(tmp_path, shards) as running, kept(running) as keeper:
        assert keeper.session_present
        while missing:
            message = keeper.receive(DEADLINE_S)
            assert message, f"{len(missing)} of {len(TOPICS)} did not come"
            missing.discard(message.topic)
