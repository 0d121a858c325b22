"""The site that is watched: its sensors, its analysers, what the sensors see."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lapwing.lab.dispatch.scenario import Scenario
from lapwing.lab.dispatch.trace import Trace

SITE = Scenario("site", speeds=(8.0, 60.0), round_trips=(1.0, 100.0), members=8)
"""Eight analysers, the slowest behind a small processor, the fastest with eight times as much; some beside the broker,
some a city away. Disturbances are those of every scenario."""
SENSORS = 24
GROUP = "analysers"
DETECTIONS, ALARMS = "site/+/detections", "alarms/#"
"""Below a root that each run has of its own."""
ALARM_DEADLINE_MS = 500
"""From the sensor to the guard, of an alarm that the sensor was sure of."""
ANALYSIS_DEADLINE_MS = 350
"""What of it the group may use: said to the broker in ``lapwing-deadline-ms``."""

_CONFIRMED_SURE, _CONFIRMED_UNSURE = 0.8, 0.1


def intruders(trace: Trace) -> NDArray[np.bool_]:
    """Which detections show an intruder: most of those that a sensor is sure of, few of the others."""
    chance = np.random.default_rng((trace.seed, 112)).random(len(trace.messages))
    return chance < np.where(trace.messages["is_critical"], _CONFIRMED_SURE, _CONFIRMED_UNSURE)


def sensor(number: int) -> str:
    """The name of a sensor; they take turns."""
    return f"gate-{number % SENSORS:02}"
