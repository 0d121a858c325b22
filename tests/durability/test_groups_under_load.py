"""The broker is killed again and again while a group works: nothing acknowledged is missing, QoS 2 comes once."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from restarting import RestartingBroker
from test_killed_under_load import Peer, wait_for

KILLS = 3
SHARE = "$share/crew/t/#"


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("qos", [1, 2])
def test_a_crew_gets_every_message_whenever_the_broker_is_killed(tmp_path: Path, qos: int, *, declared: bool) -> None:
    """Three members in sessions that stay; what one had when the broker died, itself or another one gets."""
    random_ = random.Random(qos)
    config = tmp_path / "lapwing.toml"
    config.write_text('[groups."crew"]\nfilters = ["t/#"]\n' if declared else "")
    settings = ("broker.shards=3", "limits.log_snapshot_bytes=32KiB")
    flags = [part for setting in settings for part in ("--set", setting)]
    broker = RestartingBroker(tmp_path, "--config", str(config), *flags)
    broker.start()
    members = [Peer(broker, f"member-{number}").subscribe(SHARE, qos) for number in range(3)]
    writer = Peer(broker, "writer")
    published = 0
    for _ in range(KILLS):
        count = random_.randint(300, 900)
        for serial in range(published, published + count):
            writer.publish("t/x", serial, qos)
        published += count
        target = random_.randint(published - count, published - 1)
        wait_for(broker, "progress", lambda target=target: len(writer.acknowledged) >= target)
        broker.kill()
        broker.start()
        # What paho is given while it connects overtakes what it has to send again.
        wait_for(broker, "the writer", writer.client.is_connected)
    serials = set(range(published))
    wait_for(broker, "acknowledgements", lambda: writer.acknowledged >= serials)
    wait_for(broker, "the crew", lambda: {serial for one in members for serial in one.received} >= serials)
    for peer in (writer, *members):
        peer.end()
    broker.kill()
    received = [serial for one in members for serial in one.received]
    if qos == 2:
        assert sorted(received) == sorted(serials)
    else:
        # Twice comes what members had or had just acknowledged, not all of it.
        assert len(received) < 2 * published
