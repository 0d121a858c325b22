"""Does a lane to Kafka believe its broker, and no device? The broker and Kafka are played here."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from lapwing.bridge.sink import NullSink
from lapwing.bridge.stopping import Stopping
from lapwing.bridge.test_mapping import Said
from lapwing.bridge.to_kafka import ToKafkaLane
from lapwing.config.bridge import BridgeSection


@pytest.mark.parametrize("is_told", [False, True])
def test_a_device_does_not_choose_the_lag(is_told: bool) -> None:
    bridge = BridgeSection.model_validate({"to_kafka": [{"name": "r", "filter": "s/#", "topic": "t"}]})
    lane = ToKafkaLane(bridge, bridge.to_kafka[0], 0, Stopping(), lambda _line: None, NullSink())
    played: Any = SimpleNamespace(counters=SimpleNamespace(is_told=is_told), alive=lambda: None)
    lane._consumer = played
    forged: Any = Said(topic="s/1")
    forged.user_properties = [("lapwing-ingress-us", "1")]
    forged.user_property = dict(forged.user_properties).get
    lane._carry([forged])
    assert lane.counts.messages == 1
    assert lane.counts.lag_now_s() == -1
