"""What the broker makes of what consumers say: its groups as they are while members work."""

from __future__ import annotations

import time
from collections.abc import Callable

from threads import Threads

from lapwing import Broker
from lapwing.client import Consumer, Publisher

WORK_S = 0.02
COUNT = 100


def test_reports_are_taken(broker: Broker, pool: Threads, until: Callable[[Callable[[], bool]], None]) -> None:
    """One member with a worker, one with two, 20 ms of work: does the broker know, and refuse no report?"""
    consumers = [
        Consumer(broker.url, "believe", group="believe", workers=workers, probe_ms=100).connect() for workers in (1, 2)
    ]
    running = [pool.submit(consumer.run, lambda _: time.sleep(WORK_S)) for consumer in consumers]
    with Publisher(broker.url) as publisher:
        for number in range(COUNT):
            publisher.publish("believe", str(number))
    until(lambda: sum(consumer.counters.processed for consumer in consumers) >= COUNT)
    (group,) = [group for group in broker.groups() if group["name"] == "believe"]
    for consumer in consumers:
        consumer.close()
    [each.result(30.0) for each in running]
    assert (group["counters"]["reports_refused"], group["counters"]["refused"]) == (0, 0)
    assert group["counters"]["published"] == COUNT
    for member in group["members"]:
        # The upper end is generous: this machine may be busy.
        assert 1000 * WORK_S * 0.9 <= member["service_ms"] <= 1000 * WORK_S * 100
        assert member["picks"] > 0
