"""How does a bridge end, and does it say how it stands? Its lanes are played here."""

from __future__ import annotations

import json
import queue
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator

import pytest

from lapwing.bridge.counts import Counts
from lapwing.bridge.run import Bridge
from lapwing.bridge.sink import NullSink
from lapwing.config.bridge import BridgeSection
from lapwing.errors import AddressInUseError, LapwingError

RULE = {"name": "r", "filter": "f", "topic": "t"}


class PlayedLane:
    """Runs until it is closed, and then fails if it is told to."""

    name = "r-0"

    def __init__(self, failure: BaseException | None = None) -> None:
        self.counts = Counts("r", "to_kafka")
        self.looked = threading.Event()
        self._failure = failure
        self._closed = threading.Event()

    def connect(self) -> None: ...

    def look(self) -> None:
        self.looked.set()

    def run(self) -> None:
        self._closed.wait()
        if self._failure is not None:
            raise self._failure

    def close(self, timeout_s: float) -> None:
        self._closed.set()


@pytest.fixture
def bridge() -> Iterator[Bridge]:
    settings = BridgeSection.model_validate({"to_kafka": [RULE]})
    made = Bridge(settings, lambda _line: None, NullSink)
    made.lanes = [PlayedLane()]
    yield made
    made.stop()


def test_a_clean_end(bridge: Bridge) -> None:
    bridge.start()
    assert bridge.stop()


def test_an_address_that_is_taken_is_told_before_anything_begins() -> None:
    """Does no lane connect then; and is the address free again where one fails to?"""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        settings = BridgeSection.model_validate({"to_kafka": [RULE], "metrics": f"127.0.0.1:{port}"})
        bridge = Bridge(settings, lambda _line: None, NullSink)
        lane = PlayedLane()
        lane.connect = lambda: pytest.fail("it connects")  # type: ignore[method-assign]
        bridge.lanes = [lane]
        with pytest.raises(AddressInUseError, match=r"bridge\.metrics cannot be listened on"):
            bridge.start()

    def refuse() -> None:
        raise LapwingError("no broker")

    lane.connect = refuse  # type: ignore[method-assign]
    with pytest.raises(LapwingError, match="no broker"):
        bridge.start()
    with socket.create_server(("127.0.0.1", port)):
        pass


def test_a_lane_that_fails_while_draining(bridge: Bridge) -> None:
    """Is that no clean end?"""
    bridge.lanes = [PlayedLane(LapwingError("broken"))]
    bridge.start()
    with pytest.raises(LapwingError, match="broken"):
        bridge.stop()
    bridge._failures.clear()


def test_a_lane_that_fails_is_told_of_while_others_go_on() -> None:
    """Not only when they have ended, which may take as long as Kafka is away."""
    said: queue.SimpleQueue[str] = queue.SimpleQueue()
    bridge = Bridge(BridgeSection.model_validate({"to_kafka": [RULE]}), said.put, NullSink)
    failing, going_on = PlayedLane(LapwingError("broken")), PlayedLane()
    bridge.lanes = [failing, going_on]
    bridge.start()
    failing.close(0.0)
    assert said.get(timeout=30) == "lane r-0 failed: broken"
    with pytest.raises(LapwingError, match="broken"):
        bridge.stop()


def test_health(bridge: Bridge) -> None:
    """Does it say which rule waits, and that the bridge looks?"""
    lane = PlayedLane()
    bridge.lanes = [lane]
    bridge.start()
    url = bridge.metrics_url
    assert json.load(urllib.request.urlopen(f"{url}/healthz")) == {"status": "alive"}
    lane.counts.is_connected = lambda: False
    with pytest.raises(urllib.error.HTTPError) as raised:
        urllib.request.urlopen(f"{url}/healthz")
    assert raised.value.code == 503
    assert json.load(raised.value) == {"status": "waiting", "rules": ["r"]}
    assert 'lapwing_bridge_connected{rule="r",direction="to_kafka"} 0' in (
        urllib.request.urlopen(f"{url}/metrics").read().decode()
    )
    assert lane.looked.wait(10)
