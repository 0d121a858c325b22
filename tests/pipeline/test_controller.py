"""Does the controller tell devices what to measure, once each, and follow them up? A real broker, a tiny fleet."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from messages import reading

from lapwing import Broker
from lapwing.client import Client
from lapwing.controller import MqttWires
from lapwing.errors import ConnectError, LapwingError
from lapwing.lab.directed.fleet import DirectedFleet
from lapwing.lab.directed.play import play_apart
from lapwing.pipeline.errors import TableError
from lapwing.pipeline.jobs.controller import ControllerJob
from lapwing.pipeline.jobs.controller_tables import ControllerProgress
from lapwing.pipeline.jobs.coverage import CoverageJob
from lapwing.pipeline.report.tables import read

pytestmark = [pytest.mark.timeout(300), pytest.mark.usefixtures("spark")]
CONF = {
    "lapwing.fresh_s": "8",
    "lapwing.samples_wanted": "3",
    # On a busy machine it takes a while from a reading to the decision, and from that to its device.
    "lapwing.position_s": "60",
    "lapwing.expire_s": "30",
    "lapwing.rest_s": "5",
}
PATIENT = {**CONF, "lapwing.position_s": "600", "lapwing.behind_s": "600", "lapwing.expire_s": "900"}
"""For a job that starts when the readings are there: that may take it a minute."""


@pytest.fixture
def broker() -> Iterator[Broker]:
    streams = {"readings": {"filter": "spectrum/+/readings", "partitions": 2, "key": "client"}}
    with Broker(streams=streams, http="127.0.0.1:0") as running:
        yield running


def controller(broker: Broker, out: Path, conf: Mapping[str, str] = CONF, **arguments: Any) -> ControllerJob:
    wires = MqttWires(broker.url, "controller", back_off_s=(0.05, 0.2))
    return ControllerJob(f"{broker.http_url}/v1/streams/readings", out, wires=wires, conf=conf, **arguments)


def rows(out: Path, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read(out, table).to_pylist()
    return found


def poll(holds: Callable[[], bool], deadline_s: float = 60.0) -> None:
    end = time.monotonic() + deadline_s
    while not holds():
        assert time.monotonic() < end, "it does not come about"
        time.sleep(0.1)


@pytest.mark.timeout(600)
@pytest.mark.slow
def test_devices_are_told_and_obey_and_the_table_says_so(broker: Broker, tmp_path: Path) -> None:
    told: list[ControllerProgress] = []
    job = controller(broker, tmp_path, progress=told.append).start()
    try:
        with Client(broker.url, client_id="first") as client:
            # Spark's first batch is a slow one.
            client.publish("spectrum/first/readings", json.dumps(reading("first", 0)), qos=1)
            client.flush()
        job.wait_caught_up()
        played = play_apart(broker.url, 20, 25.0, 0.2, seed=3, debt_max=6)
        job.wait_caught_up()
        # What came too late for a device to hear it is given up when its time is over.
        poll(
            lambda: not {"outbox", "published", "acknowledged"} & {row["state"] for row in rows(tmp_path, "commands")},
            deadline_s=120,
        )
    finally:
        job.stop()
    outbox, commands = rows(tmp_path, "outbox"), {row["id"]: row for row in rows(tmp_path, "commands")}
    assert {row["id"] for row in outbox} == commands.keys()
    assert len(outbox) > 0
    assert sum(each.commands for each in told) == len(outbox)
    assert len(played.executed) == len(set(played.executed))
    done = {name for name, row in commands.items() if row["state"] == "done"}
    assert len(done) > 0
    assert done <= set(played.executed)
    assert played.readings == len(rows(tmp_path, "readings")) - 1 == 20 * 5
    for row in commands.values():
        assert row["published_at"] is None or row["published_at"] >= row["committed_at"] >= row["decided_at"]
    heard = played.arrived_us
    late_s = sorted(
        heard[name] / 1e6 - row["committed_at"].timestamp() for name, row in commands.items() if name in heard
    )
    assert late_s[len(late_s) // 2] < 10, "not with the next repeat"


def test_registered_before_and_read_at_once(broker: Broker, tmp_path: Path) -> None:
    """What is retained is known before the first batch decides: `available-now` has one chance."""
    with DirectedFleet(broker.url, 12, 2.0, 0.5, seed=4) as fleet:
        fleet.play()
        job = controller(broker, tmp_path, PATIENT, trigger="available-now").start()
        job.wait()
        job.stop()
        assert len(rows(tmp_path, "outbox")) >= 5
        fleet.play()  # each hears what waited for it
    assert sum(len(device.memory.answers) for device in fleet.devices) == len(rows(tmp_path, "outbox"))
    again = controller(broker, tmp_path, PATIENT, trigger="available-now").start()
    again.wait()
    poll(lambda: all(row["acknowledged_at"] or row["state"] == "refused" for row in rows(tmp_path, "commands")))
    again.stop()


def test_one_job_writes_to_a_folder(broker: Broker, tmp_path: Path) -> None:
    job = controller(broker, tmp_path).start()
    try:
        with pytest.raises(TableError, match="another job writes here"):
            CoverageJob(f"{broker.http_url}/v1/streams/readings", tmp_path).start()
        with pytest.raises(TableError, match="another job writes here"):
            controller(broker, tmp_path).start()
    finally:
        job.stop()


def test_a_broker_that_is_not_there_is_named(broker: Broker, tmp_path: Path) -> None:
    wires = MqttWires("tcp://127.0.0.1:1", "controller", timeout_s=1.0)
    job = ControllerJob(f"{broker.http_url}/v1/streams/readings", tmp_path, wires=wires)
    with pytest.raises(ConnectError, match=r"127\.0\.0\.1:1"):
        job.start()
    controller(broker, tmp_path, trigger="available-now").start().stop()  # the folder is free


def test_wires_that_break_end_each_wait(broker: Broker, tmp_path: Path) -> None:
    job = controller(broker, tmp_path).start()
    try:
        job._break(LapwingError("somebody else has this name"))
        with Client(broker.url, client_id="a") as client:
            client.publish("spectrum/a/readings", json.dumps(reading("a", 0)), qos=1)
            client.flush()
        for wait in (job.wait, job.wait_caught_up):
            with pytest.raises(LapwingError, match="somebody else has this name"):
                wait()
    finally:
        job.stop()
