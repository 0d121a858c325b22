"""The broker is killed again and again while a group works: nothing acknowledged is missing, QoS 2 comes once."""

from __future__ import annotations

from pathlib import Path

import pytest
from restarting import RestartingBroker
from test_killed_under_load import FLAGS, Peer, publish_while_killed, wait_for

SHARE = "$share/crew/t/#"


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("qos", [1, 2])
def test_a_crew_gets_every_message_whenever_the_broker_is_killed(tmp_path: Path, qos: int, *, declared: bool) -> None:
    """Three members in sessions that stay; what one had when the broker died, itself or another one gets."""
    config = tmp_path / "lapwing.toml"
    config.write_text('[groups."crew"]\nfilters = ["t/#"]\n' if declared else "")
    broker = RestartingBroker(tmp_path, "--config", str(config), *FLAGS)
    broker.start()
    members = [Peer(broker, f"member-{number}").subscribe(SHARE, qos) for number in range(3)]
    writer = Peer(broker, "writer")
    serials = publish_while_killed(broker, writer, qos, between=(300, 900))
    wait_for(broker, "the crew", lambda: {serial for one in members for serial in one.received} >= serials)
    for peer in (writer, *members):
        peer.end()
    broker.kill()
    received = [serial for one in members for serial in one.received]
    if qos == 2:
        assert sorted(received) == sorted(serials)
    else:
        # Twice comes what members had or had just acknowledged, not all of it.
        assert len(received) < 2 * len(serials)
