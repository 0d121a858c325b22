"""A broker of its own for each test, one Kafka for all."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import Running, RunningBroker
from kafka_server import kafka

__all__ = ["kafka"]

METRIC_S = 100.0
HERE = Path(__file__).parent
KAFKA_STARTS_S = 300
"""A test may have to wait for one or two servers to start, each for a minute on a busy machine."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Gives the time for it to every test of this folder that says nothing of its time."""
    for item in items:
        if item.path.parent == HERE and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(KAFKA_STARTS_S))


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[RunningBroker]:
    """`lapwing broker`, with a durable group for what the bridge takes."""
    group = 'groups.bridge={filters = ["spectrum/+/readings"], strategy = "key-ordered"}'
    with RunningBroker(tmp_path / "data", "--set", group) as running:
        yield running.wait_until_ready()


class RunningBridge(Running):
    """`lapwing bridge run --json`."""

    def __init__(self, url: str, bootstrap: str, *settings: str, variables: dict[str, str] | None = None) -> None:
        given = (f"bridge.mqtt.url={url}", f"bridge.kafka.bootstrap={bootstrap}", *settings)
        flags = [word for setting in given for word in ("--set", setting)]
        super().__init__("bridge", "run", "--json", *flags, variables=variables)
        self.notices: list[str] = []
        self._looked_at = 0
        self.metrics_url = ""

    def wait_until_ready(self) -> RunningBridge:
        """Until it has said so."""
        event = self.event("ready")
        self.metrics_url = f"{event['metrics']}/metrics"
        return self

    def event(self, kind: str) -> dict[str, Any]:
        """The next event of a kind; notices before it are kept."""
        while True:
            event: dict[str, Any] = json.loads(self.line())
            if event["event"] == "notice":
                self.notices.append(event["notice"])
            if event["event"] == kind:
                return event

    def wait_for_notice(self, part: str) -> str:
        """Until it has said something with ``part`` in it, after what was waited for last; perhaps before `ready`."""
        while True:
            if self._looked_at == len(self.notices):
                self.event("notice")
            self._looked_at += 1
            if part in (notice := self.notices[self._looked_at - 1]):
                return notice

    def all_notices(self) -> list[str]:
        """Everything it has said; for one that has ended."""
        events = [json.loads(line) for line in iter(self._lines.get, None)]
        self.notices += [event["notice"] for event in events if event["event"] == "notice"]
        return self.notices


def metric(bridge: RunningBridge, name: str, rule: str = "commands", direction: str = "to_mqtt") -> float:
    """One figure of a rule, as soon as the bridge knows it."""
    start = f'lapwing_bridge_{name}{{rule="{rule}",direction="{direction}"}} '
    deadline = time.monotonic() + METRIC_S
    while True:
        lines = urllib.request.urlopen(bridge.metrics_url).read().decode().splitlines()
        found = [line.removeprefix(start) for line in lines if line.startswith(start)]
        if found:
            return float(found[0])
        assert time.monotonic() < deadline, f"no {start}in {lines}"
        time.sleep(0.05)


def to_kafka(topic: str, **more: str) -> str:
    """The setting of one rule from MQTT to Kafka."""
    rule = {"name": "readings", "filter": "spectrum/+/readings", "topic": topic, **more}
    return f"bridge.to_kafka=[{{{', '.join(f'{key} = {json.dumps(value)}' for key, value in rule.items())}}}]"


def to_mqtt(topic: str, **more: str | int | bool) -> str:
    """The setting of one rule from Kafka to MQTT, with a group of its own."""
    rule = {"name": "commands", "topic": topic, "to": "commands/{key}", "group": f"group-{topic}", **more}
    return f"bridge.to_mqtt=[{{{', '.join(f'{key} = {json.dumps(value)}' for key, value in rule.items())}}}]"


StartBridge = Callable[..., RunningBridge]


@pytest.fixture
def start_bridge() -> Iterator[StartBridge]:
    """`start_bridge(url, bootstrap, setting, ...)`: ready on return; killed at the end, if it still runs."""
    started: list[RunningBridge] = []

    def start(url: str, bootstrap: str, *settings: str, variables: dict[str, str] | None = None) -> RunningBridge:
        bridge = RunningBridge(url, bootstrap, *settings, variables=variables)
        started.append(bridge)
        return bridge.wait_until_ready()

    yield start
    for bridge in started:
        bridge.process.kill()
        bridge.process.wait()
