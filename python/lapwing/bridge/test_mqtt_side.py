"""Who is a lane to the broker?"""

from __future__ import annotations

import socket

from lapwing.bridge.mqtt_side import connect_options
from lapwing.config.bridge_sides import BridgeMqtt


def test_client_ids() -> None:
    """Have two processes with one configuration ids of their own, and the same ones after a restart?"""
    assert "client_id" not in connect_options(BridgeMqtt(), "r-0")
    here = connect_options(BridgeMqtt(client_id="bridge"), "r-0")
    assert here["client_id"] == f"bridge-{socket.gethostname()}-r-0"
    second = connect_options(BridgeMqtt(client_id="bridge", instance="2"), "r-0")
    assert second["client_id"] == "bridge-2-r-0"
