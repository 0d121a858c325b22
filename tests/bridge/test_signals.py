"""Does a bridge hear signals where it waits for something that may never come? There is no Kafka here."""

from __future__ import annotations

import signal
import socket
import time

from commands import Running, RunningBroker
from conftest import RunningBridge, StartBridge

import lapwing

NO_KAFKA = "127.0.0.1:9"
NOTICE_S = 60.0


def test_a_broker_that_accepts_and_is_silent_holds_up_no_signal() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        rule = 'bridge.to_kafka=[{name = "r", filter = "s/#", topic = "t"}]'
        with Running("bridge", "run", "--set", f"bridge.mqtt.url={url}", "--set", rule) as bridge:
            peer, _ = silent.accept()
            with peer:
                assert peer.recv(1)
                assert bridge.end() == 0


def test_a_failed_lane_is_told_of_and_a_signal_then_stops_what_waits(
    broker: RunningBroker, start_bridge: StartBridge
) -> None:
    """One rule waits for a Kafka that is not there; of the other somebody else takes the client id."""
    rules = ", ".join(f'{{name = "{name}", filter = "{name}/#", topic = "t"}}' for name in ("r", "q"))
    own = ("bridge.drain=1h", "bridge.mqtt.client_id=b", "bridge.mqtt.instance=i", f"bridge.to_kafka=[{rules}]")
    bridge = start_bridge(broker.url, NO_KAFKA, *own)
    with lapwing.Publisher(broker.url) as publisher:
        publisher.publish("r/1", "x", qos=1)
    bridge.wait_for_notice("rule r waits")
    _take_over(broker.url, "b-i-q-0", bridge)
    bridge.wait_for_notice("draining the other lanes")
    bridge.process.send_signal(signal.SIGTERM)
    assert bridge.process.wait(30) == 128 + signal.SIGTERM


def _take_over(url: str, client_id: str, bridge: RunningBridge) -> None:
    """Again and again, until the bridge says that the lane has failed."""
    deadline = time.monotonic() + NOTICE_S
    while time.monotonic() < deadline:
        with lapwing.Client(url, client_id=client_id):
            pass
        if "lane q-0 failed" in bridge.event("notice")["notice"]:
            return
    raise AssertionError("the lane goes on")
