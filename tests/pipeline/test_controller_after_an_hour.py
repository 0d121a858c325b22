"""The controller was off for an hour: does it decide on nothing stale, and hear the answers that waited?

The hour is one of the controller's clocks, its own and Spark's; broker and devices are real.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from messages import envelopes, reading
from served_stream import ServedStream
from test_controller_killed import DEVICES, Phones, _place, rows

from lapwing import Broker
from lapwing.controller import MqttWires
from lapwing.pipeline.jobs import controller_tables
from lapwing.pipeline.jobs.controller import ControllerJob
from lapwing.pipeline.jobs.controller_tables import ControllerProgress

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(600), pytest.mark.usefixtures("spark")]
HOUR_S = 3_600
EVERY_S = 10
BATCH_S = 600
CONF = {
    # With these each batch would find every place wanting and every device in it, however old its readings are.
    "lapwing.fresh_s": "1",
    "lapwing.position_s": "7200",
    # On a busy machine it takes a minute from a reading to the decision.
    "lapwing.behind_s": "300",
    "lapwing.expire_s": "600",
    "lapwing.max_rows_per_batch": str(BATCH_S // EVERY_S * DEVICES),
}


class Clock:
    """The controller's; it can be put forward."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ahead_s = 0
        here_ns, spark_us = time.time_ns, controller_tables._time_us
        monkeypatch.setattr(time, "time_ns", lambda: here_ns() + self.ahead_s * 10**9)
        monkeypatch.setattr(controller_tables, "_time_us", lambda *at: spark_us(*at) + self.ahead_s * 10**6)

    def now(self) -> datetime:
        return datetime.fromtimestamp(time.time_ns() / 1e9, UTC)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


@pytest.fixture
def broker() -> Iterator[Broker]:
    with Broker() as running:
        yield running


@pytest.fixture
def stream() -> Iterator[ServedStream]:
    """A partition for each device: what a batch may have is shared out among them evenly."""
    served = ServedStream(DEVICES)
    yield served
    served.close()


def drive(stream: ServedStream, seconds: int, until: datetime) -> None:
    """Each device stands in its tile, and has said so every ten seconds."""
    times = [until - timedelta(seconds=ago) for ago in range(seconds - EVERY_S, -1, -EVERY_S)]
    for number in range(DEVICES):
        lat, lon = _place(number)
        first = stream.partitions[number].next_offset
        sent = [reading(f"d{number}", first + n, at=at, lat=lat, lon=lon) for n, at in enumerate(times)]
        stream.append(number, envelopes(sent, ingress=times))


def run_now(broker: Broker, stream: ServedStream, out: Path) -> list[ControllerProgress]:
    told: list[ControllerProgress] = []
    wires = MqttWires(broker.url, "controller")
    now: Any = "available-now"
    job = ControllerJob(stream.url, out, wires=wires, trigger=now, conf=CONF, progress=told.append).start()
    try:
        job.wait()
    finally:
        job.stop()
    return told


def test_nothing_stale_is_decided_on_and_answers_that_waited_count(
    broker: Broker, stream: ServedStream, clock: Clock, tmp_path: Path
) -> None:
    phones = Phones(broker)
    phones.sense()  # they register
    drive(stream, BATCH_S, clock.now())
    assert [each.commands for each in run_now(broker, stream, tmp_path)] == [DEVICES]
    assert {row["state"] for row in rows(tmp_path, "commands")} == {"published"}
    first = {row["id"] for row in rows(tmp_path, "outbox")}
    phones.obey()
    clock.ahead_s = HOUR_S
    drive(stream, HOUR_S, clock.now())
    told = run_now(broker, stream, tmp_path)
    stale = HOUR_S // BATCH_S - 1
    assert [each.commands for each in told] == [0] * stale + [DEVICES]
    states = {row["id"]: row["state"] for row in rows(tmp_path, "commands")}
    assert {states[name] for name in first} == {"done"}, "they were answered while it was off"
    assert {state for name, state in states.items() if name not in first} == {"published"}
