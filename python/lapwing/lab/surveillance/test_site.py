"""What the scene decides before it begins: who is an intruder, and what detections and alarms say."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lapwing.lab.dispatch.trace import make_trace
from lapwing.lab.surveillance.detection import Detection, alarm
from lapwing.lab.surveillance.site import SENSORS, SITE, intruders, sensor


def test_intruders_are_the_seeds_and_mostly_what_sensors_are_sure_of() -> None:
    trace = make_trace(SITE, 0.7, 1, 60.0)
    found = intruders(trace)
    assert np.array_equal(found, intruders(make_trace(SITE, 0.7, 1, 60.0)))
    is_sure = trace.messages["is_critical"].astype(bool)
    assert found[is_sure].mean() == pytest.approx(0.8, abs=0.05)
    assert found[~is_sure].mean() == pytest.approx(0.1, abs=0.02)


def test_sensors_take_turns() -> None:
    assert {sensor(number) for number in range(1000)} == {f"gate-{number:02}" for number in range(SENSORS)}


def test_a_detection_becomes_an_alarm_of_its_sensor() -> None:
    detection = Detection(7, "gate-07", 1.5, shows_intruder=True)
    assert Detection.from_bytes(detection.to_bytes()) == detection
    topic, payload = alarm(detection)
    assert topic == "alarms/gate-07"
    assert json.loads(payload) == {"number": 7, "sensor": "gate-07"}
