"""What alarms met: from which instant it counts, and how late the gateway was. Records are made up, topics are not."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lapwing.lab.dispatch.brokers import RunningBroker
from lapwing.lab.dispatch.links import Links
from lapwing.lab.dispatch.session import SENT_RECORD
from lapwing.lab.dispatch.trace import MESSAGE, Trace
from lapwing.lab.surveillance import scene as scenes
from lapwing.lab.surveillance.detection import Detection
from lapwing.lab.surveillance.scene import _HEARD_RECORD, Scene, _conditions
from lapwing.lab.surveillance.sensors import Order, publish_all
from lapwing.lab.surveillance.site import SITE

MS = 1_000_000
LINKS = Links("proxy", "127.0.0.1", "", None)


def _trace(*at_ms: float) -> Trace:
    return Trace(SITE, 0.7, 1, 10.0, (), np.array([(at, 1.0, 1) for at in at_ms], MESSAGE))


def test_an_alarm_counts_from_the_instant_at_which_its_detection_was_due() -> None:
    """A gateway that the broker held up sent the second 800 ms late; the alarm came 900 ms after it was due."""
    sent = np.array([(MS, MS), (1001 * MS, 1801 * MS)], SENT_RECORD)
    heard = np.array([(0, 41 * MS), (1, 1901 * MS)], _HEARD_RECORD)
    conditions = _conditions({"late_p50_us": 0.0, "late_p99_us": 0.0, "cpu_s": 0.0}, sent, {}, 1.0)
    made = Scene(LINKS, 0.0, 0.0)._outcome(_trace(0.0, 1000.0), np.ones(2, bool), sent, heard, 5000 * MS, conditions)
    assert made.latency_ms == pytest.approx([40, 900])
    assert made.conditions["publisher_late_us"] == pytest.approx([400e3, 792e3])


class PlayedProcess:
    def __init__(self, module: str, order: Any, **_: object) -> None:
        self.module, self.order = module, order


def test_every_run_has_topics_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(scenes, "Process", PlayedProcess)
    scene, broker = Scene(LINKS, 0.0, 0.0), RunningBroker("lapwing", 1, 1883, 1884, True, "")
    casts: list[Any] = [list(scene._cast(_trace(0.0), broker, tmp_path / "d", tmp_path)) for _ in range(2)]
    roots = [cast[1].order.root for cast in casts]
    assert roots[0] != roots[1]
    assert [cast[0].order.topic_filter for cast in casts] == [f"{root}/alarms/#" for root in roots]


def test_the_gateway_publishes_below_the_root(tmp_path: Path) -> None:
    published: list[str] = []

    class PlayedPublisher:
        def publish(self, topic: str, _payload: bytes, **_: object) -> None:
            published.append(topic)

    fields = vars(Detection(0, "gate-00", 1.0, shows_intruder=True))
    (tmp_path / "detections").write_text(json.dumps([[0.0, True, fields]]))
    order = Order("tcp://x", "run-1", str(tmp_path / "detections"), 350, "")
    publish_all(order, PlayedPublisher(), time.monotonic_ns())  # type: ignore[arg-type]
    assert published == ["run-1/site/gate-00/detections"]
