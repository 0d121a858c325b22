"""What `lapwing._core.Fleet` takes from Python, and what it gives back; the other end is the swarm's sink."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from lapwing import _core


@pytest.fixture
def sink() -> Iterator[_core.Sink]:
    sink = _core.Sink()
    yield sink
    sink.stop()


def fleet_of(url: str, devices: int, **settings: Any) -> _core.Fleet:
    clients = [{"client_id": f"d{n}", "topic": f"spectrum/d{n}/readings"} for n in range(devices)]
    return _core.Fleet(json.dumps({"url": url, "clients": clients, **settings}))


def test_columns_may_be_arrays_or_lists(sink: _core.Sink) -> None:
    fleet = fleet_of(sink.url(), 3)
    fleet.go()
    devices, due = np.arange(3, dtype=np.int32), np.zeros(3, dtype=np.int64)
    assert fleet.offer(devices, due, [b"1", b"2", b"3"]) == 3
    assert fleet.offer(memoryview(devices), due.data, [b"1", b"2", b"3"], qos=2) == 3
    assert fleet.offer([0, 1, 2], [0, 0, 0], [b"1", b"2", b"3"], qos=0) == 3
    report = json.loads(fleet.finish_json(30.0))
    assert (report["accepted"], report["sent"], report["acknowledged"]) == (9, 9, 6)
    assert report["complete"]


def test_numbers_of_another_width_are_converted(sink: _core.Sink) -> None:
    fleet = fleet_of(sink.url(), 2)
    fleet.go()
    assert fleet.offer(np.array([0, 1]), np.array([0, 0], dtype=np.int32), [b"1", b"2"]) == 2
    assert json.loads(fleet.finish_json(30.0))["complete"]


def test_wrong_batches_are_errors_and_nothing_is_taken(sink: _core.Sink) -> None:
    fleet = fleet_of(sink.url(), 1)
    for devices, due, payloads in (([0], [0, 0], [b""]), ([1], [0], [b""]), ([-1], [0], [b""])):
        with pytest.raises(_core.CoreError) as caught:
            fleet.offer(devices, due, payloads)
        assert caught.value.code == "profile"
    with pytest.raises(_core.CoreError, match="jump"):
        fleet.move_devices([0], [0], ["jump"])
    assert json.loads(fleet.counts_json())["accepted"] == 0


def test_devices_come_and_go(sink: _core.Sink) -> None:
    clients = [{"client_id": "late", "topic": "t", "joined": False}]
    fleet = _core.Fleet(json.dumps({"url": sink.url(), "clients": clients}))
    assert fleet.joined() == 0
    fleet.go()
    assert fleet.offer([0], [0], [b"waits for the device"]) == 1
    assert fleet.move_devices([0, 0], [1000, 2000], ["join", "leave"]) == 2
    report = json.loads(fleet.finish_json(30.0))
    assert (report["connects"], report["leaves"], report["acknowledged"]) == (1, 1, 1)


def test_a_full_queue_takes_a_part(sink: _core.Sink) -> None:
    fleet = fleet_of(sink.url(), 1, queue_messages_max=4)
    fleet.go()
    hour_us = 3_600_000_000
    assert fleet.offer([0] * 6, [hour_us] * 6, [b""] * 6, timeout_s=0.01) == 4
    report = json.loads(fleet.finish_json(0.0))
    assert (report["accepted"], report["unsent"], report["complete"]) == (4, 4, False)


def test_a_fleet_ends_once(sink: _core.Sink) -> None:
    fleet = fleet_of(sink.url(), 1)
    fleet.finish_json(0.0)
    with pytest.raises(_core.CoreError, match="ended"):
        fleet.finish_json(0.0)


def test_nobody_there_is_counted_and_tried_again() -> None:
    sink = _core.Sink()
    url = sink.url()
    sink.stop()
    fleet = fleet_of(url, 1, reconnect_first_ms=1, reconnect_max_ms=2)
    fleet.go()
    fleet.offer([0], [0], [b""])
    deadline = time.monotonic() + 30.0
    reopened = _core.Sink("127.0.0.1", int(url.rsplit(":", 1)[1]))
    while json.loads(fleet.counts_json())["acknowledged"] < 1 and time.monotonic() < deadline:
        time.sleep(0.01)
    report = json.loads(fleet.finish_json(30.0))
    reopened.stop()
    assert report["complete"], report


def test_unknown_settings_are_named(sink: _core.Sink) -> None:
    with pytest.raises(_core.CoreError, match="thread_count") as caught:
        fleet_of(sink.url(), 1, thread_count=2)
    assert caught.value.code == "profile"
