"""The gateway of all sensors, a process: publishes each detection when it is due.

``python -m lapwing.lab.surveillance.sensors ORDER``; ORDER is JSON with the fields of ``Order``. Says "ready" on
standard output when connected, reads the trace's start in nanoseconds from standard input, and ends when everything
is acknowledged: one ``SENT`` record per detection.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from lapwing.client import Publisher
from lapwing.lab.dispatch.books import SENT
from lapwing.lab.surveillance.detection import Detection


@dataclass(frozen=True)
class Order:
    """What the gateway is told.

    Attributes:
        root: Of every topic of this run.
        detections: File: a JSON list of ``[at_ms, is_sure, detection]``.
        deadline_ms: For the group, of those that the sensor is sure of.
        records: File to write.
    """

    url: str
    root: str
    detections: str
    deadline_ms: int
    records: str


def publish_all(order: Order, publisher: Publisher, start_ns: int) -> list[tuple[int, int]]:
    """Publishes every detection when it is due; gives when each was due and when it was handed over."""
    sent = []
    for at_ms, is_sure, fields in json.loads(Path(order.detections).read_text()):
        detection = Detection(**fields)
        due_ns = start_ns + int(at_ms * 1e6)
        time.sleep(max(0, due_ns - time.monotonic_ns()) / 1e9)
        sent.append((due_ns, time.monotonic_ns()))
        publisher.publish(
            f"{order.root}/site/{detection.sensor}/detections",
            detection.to_bytes(),
            qos=1,
            deadline_ms=order.deadline_ms if is_sure else None,
            priority="critical" if is_sure else None,
        )
    return sent


def main() -> None:
    """The gateway from its first word to its last."""
    order = Order(**json.loads(sys.argv[1]))
    with Publisher(order.url, client_id="site-gateway") as publisher:
        print("ready", flush=True)  # noqa: T201 (this is its protocol)
        sent = publish_all(order, publisher, int(sys.stdin.readline() or 0))
        publisher.flush()
    Path(order.records).write_bytes(b"".join(SENT.pack(*record) for record in sent))


if __name__ == "__main__":
    main()
