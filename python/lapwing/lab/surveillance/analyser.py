"""One analyser, a process: looks closer at each detection that the group hands it, and raises the alarm if it must.

``python -m lapwing.lab.surveillance.analyser ORDER``; ORDER is JSON with the fields of ``Order``. Says "ready" on
standard output when subscribed, reads the trace's start in nanoseconds from standard input, and ends at SIGTERM.

It is what an application would be: a ``Consumer``, whose acknowledgement follows the handler and which reports its
queue, and a ``Publisher``. Only the looking is a sleep, as long as its day says.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from dataclasses import dataclass
from types import FrameType

from lapwing.client import Consumer, Delivery, Publisher
from lapwing.lab.dispatch.books import Clock
from lapwing.lab.dispatch.day import Day
from lapwing.lab.surveillance.detection import Detection, alarm


@dataclass(frozen=True)
class Order:
    """What an analyser is told.

    Attributes:
        day: ``Day`` as JSON.
        url: The broker, through this analyser's link.
        root: Of every topic of this run.
        topic_filter: Of detections, below the root and without the group.
    """

    day: dict[str, list[float]]
    url: str
    client_id: str
    group: str
    root: str
    topic_filter: str


class Analyser:
    """The handler, and what it needs."""

    def __init__(self, order: Order, publisher: Publisher) -> None:
        self._day = Day.from_json(order.day)
        self._publisher = publisher
        self._root = order.root
        self.clock = Clock(time.monotonic_ns())

    def look(self, delivery: Delivery) -> None:
        """Handles one detection."""
        detection = Detection.from_bytes(delivery.payload)
        now_ms = self.clock.now_ms()
        time.sleep(max(0.0, self._day.finish_ms(now_ms, detection.work) - now_ms) / 1e3)
        if detection.shows_intruder:
            topic, payload = alarm(detection)
            self._publisher.publish(f"{self._root}/{topic}", payload, qos=1)


def _end(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


def main() -> None:
    """One analyser from its first word to its last."""
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the experiment decides when analysers end
    order = Order(**json.loads(sys.argv[1]))
    with (
        Publisher(order.url, client_id=f"{order.client_id}-alarms") as publisher,
        Consumer(
            order.url, f"{order.root}/{order.topic_filter}", group=order.group, client_id=order.client_id
        ) as consumer,
    ):
        analyser = Analyser(order, publisher)
        print("ready", flush=True)  # noqa: T201 (this is its protocol)
        analyser.clock = Clock(int(sys.stdin.readline() or 0))
        consumer.run(analyser.look)


if __name__ == "__main__":
    main()
