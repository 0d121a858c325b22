"""What the bridge's benchmark runs in processes of their own: a bridge that counts, and a publisher that keeps time."""

from __future__ import annotations

import json
import sys
import time

from lapwing import Publisher
from lapwing.bridge.run import Bridge
from lapwing.bridge.sink import NullSink
from lapwing.config import BridgeSection

TOPIC, FILTER = "bench", "spectrum/+/readings"
DEVICES = 100
BYTES = 200
_LOOK_S = 0.01


def carry(url: str, bootstrap: str, messages: int, batch: int, *, null: bool) -> None:
    """One member carries so many messages; prints its rate from the first tenth on."""
    rule = {"name": "bench", "filter": FILTER, "topic": TOPIC}
    settings = {
        "mqtt": {"url": url, "batch": batch},
        "kafka": {"bootstrap": bootstrap},
        "to_kafka": [rule],
        "metrics": "off",
    }
    bridge = Bridge(BridgeSection.model_validate(settings), say=print, sink=NullSink if null else None)
    bridge.start()
    counts, began, first = bridge.all_counts()[0], 0.0, 0
    while counts.messages < messages:
        if not began and counts.messages > messages // 10:
            began, first, cpu = time.monotonic(), counts.messages, time.process_time()
        bridge.wait(_LOOK_S)
    took_s, carried = time.monotonic() - began, counts.messages - first
    cpu_us = (time.process_time() - cpu) / carried * 1e6
    bridge.stop()
    print(json.dumps({"per_s": carried / took_s, "cpu_us": cpu_us, "batch": counts.messages / counts.batches}))


def publish(url: str, messages: int, per_s: float) -> None:
    """Publishes messages of ``BYTES``, each with the monotonic clock in it; ``per_s`` 0: as fast as it goes."""
    topics = [f"spectrum/{device}/readings" for device in range(DEVICES)]
    began = time.monotonic()
    with Publisher(url, timeout_s=120) as publisher:
        for number in range(messages):
            if per_s and (due := began + number / per_s) - time.monotonic() > 0.0005:
                time.sleep(max(0.0, due - time.monotonic()))
            payload = b"%020d" % time.monotonic_ns() + b"." * (BYTES - 20)
            publisher.publish(topics[number % DEVICES], payload)


if __name__ == "__main__":
    role, *rest = sys.argv[1:]
    if role == "publish":
        publish(rest[0], int(rest[1]), float(rest[2]))
    else:
        carry(rest[0], rest[1], int(rest[2]), int(rest[3]), null=role == "null")
