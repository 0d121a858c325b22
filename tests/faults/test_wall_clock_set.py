"""Somebody sets the wall clock: is what expires there for as long as it was promised, and no longer?"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from commands import RunningBroker
from wall_clock import DEADLINE_S, WallClock
from web import get

from lapwing import Client
from lapwing.client import Will

YEAR_S = 365 * 86_400
EXPIRY_S = 600
BRIEF_S = 2
ENDINGS = pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM], ids=["killed", "stopped"])
# When the broker starts, and what the clock is set to while it runs: by how much it is fast. As on a machine without a
# battery, which begins in 1970 until somebody tells it the time; a year forward; a year backward.
JUMPS = pytest.mark.parametrize(
    ("before_s", "after_s"),
    [(86_400 - int(time.time()), 0), (0, YEAR_S), (0, -YEAR_S)],
    ids=["from_1970", "forward", "backward"],
)


@contextmanager
def broker(folder: Path, wall: WallClock) -> Iterator[RunningBroker]:
    """A broker under this wall clock; killed when the block is left."""
    data = folder / "data"
    with RunningBroker(data, "--set", "broker.shards=2", variables=wall.variables).wait_until_ready() as running:
        yield running


def client(running: RunningBroker, name: str, expiry_s: int, will: Will | None = None) -> Client:
    """Goes on with its session, or begins one that stays."""
    return Client(running.url, client_id=name, clean_start=False, session_expiry_s=expiry_s, will=will).connect()


def leave_behind(running: RunningBroker, expiry_s: int) -> float:
    """A session and a message that expire, a will that waits, and somebody who waits for it; returns when it began."""
    began = time.monotonic()
    for name, topic, session_s in [("guard", "wills/#", YEAR_S), ("sleeper", "t", YEAR_S), ("brief", "t", expiry_s)]:
        with client(running, name, session_s) as one:
            one.subscribe(topic, qos=1)
    sensor = client(running, "sensor", YEAR_S, Will("wills/sensor", b"gone", qos=1, delay_s=expiry_s))
    sensor.disconnect(with_will=True)
    with Client(running.url) as publisher:
        publisher.publish("t", "waits", qos=1, message_expiry_s=expiry_s)
        publisher.flush()
    return began


def session(running: RunningBroker, name: str) -> dict[str, Any] | None:
    """A session as an operator sees it; None: there is none."""
    answer = get(f"{running.http}/v1/sessions/{name}")
    if answer.status_code == 404:
        return None
    found: dict[str, Any] = answer.json()
    return found


def queue_of(running: RunningBroker, name: str) -> list[dict[str, Any]]:
    """What waits for a session, which is there."""
    found = session(running, name)
    assert found
    queue: list[dict[str, Any]] = found["queue"]
    return queue


def format_of(folder: Path) -> str:
    return (folder / "data" / "format").read_text().strip()


def is_silent(one: Client) -> bool:
    """Whether nothing waits for a client: what it publishes to itself now comes first."""
    one.subscribe("own/probe", qos=1)
    one.publish("own/probe", "probe", qos=1)
    message = one.receive(DEADLINE_S)
    return message is not None and message.topic == "own/probe"


def becomes_true(is_so: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + DEADLINE_S
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def check_times(running: RunningBroker, wall: WallClock, began: float) -> None:
    """Have session and message as long as they have in truth, and is it said in the time that the wall clock shows?"""
    brief, sleeper = session(running, "brief"), session(running, "sleeper")
    passed_s = time.monotonic() - began
    assert brief
    assert sleeper
    assert EXPIRY_S - passed_s - 1 <= brief["ends_in_s"] <= EXPIRY_S
    (message,) = sleeper["queue"]
    assert EXPIRY_S - passed_s - 1 <= message["expires_in_ms"] / 1000 <= EXPIRY_S
    assert 0 <= message["age_ms"] / 1000 <= passed_s
    shown = time.strftime("%Y-%m-%d", time.gmtime(wall.now_s() - passed_s))
    assert shown <= brief["away_since"] <= time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(wall.now_s() + 1))


def check_all_is_there(running: RunningBroker) -> None:
    with client(running, "guard", YEAR_S) as guard:
        assert is_silent(guard), "the will did not wait"
    for name in ("sleeper", "brief"):
        with client(running, name, EXPIRY_S) as one:
            assert one.session_present
            message = one.receive(DEADLINE_S)
            assert message
            assert message.payload == b"waits"
            assert 0 < (message.message_expiry_s or 0) <= EXPIRY_S


def check_all_is_over(running: RunningBroker) -> None:
    assert becomes_true(lambda: session(running, "brief") is None)
    # It was sent after that session had been left, and lives on by so much.
    assert becomes_true(lambda: not any(message["expires_in_ms"] for message in queue_of(running, "sleeper")))
    with client(running, "sleeper", YEAR_S) as sleeper:
        assert sleeper.session_present
        assert is_silent(sleeper), "the message did not expire"
    with client(running, "guard", YEAR_S) as guard:
        will = guard.receive(DEADLINE_S)
        assert will
        assert will.payload == b"gone"


@JUMPS
def test_a_clock_that_is_set_while_the_broker_runs_changes_nothing_there(
    tmp_path: Path, wall: WallClock, before_s: int, after_s: int
) -> None:
    wall.set(before_s)
    with broker(tmp_path, wall) as running:
        began = leave_behind(running, EXPIRY_S)
        wall.set(after_s)
        check_times(running, wall, began)
        check_all_is_there(running)


@JUMPS
@ENDINGS
def test_a_clock_that_was_set_ends_nothing_early_at_the_next_start(
    tmp_path: Path, wall: WallClock, before_s: int, after_s: int, ending: signal.Signals
) -> None:
    wall.set(before_s)
    with broker(tmp_path, wall) as running:
        began = leave_behind(running, EXPIRY_S)
        assert format_of(tmp_path) == "lapwing-log 1"
        wall.set(after_s)
        wall.wait_until_noted(tmp_path / "data")
        running.end(ending)
    assert format_of(tmp_path) == "lapwing-log 2", "an older program would take its times for the wall clock's"
    for _ in range(2):
        with broker(tmp_path, wall) as running:
            check_times(running, wall, began)
            running.end(ending)
    with broker(tmp_path, wall) as running:
        check_all_is_there(running)


@JUMPS
def test_what_waits_ends_when_its_time_has_passed_while_the_broker_was_down(
    tmp_path: Path, wall: WallClock, before_s: int, after_s: int
) -> None:
    wall.set(before_s)
    with broker(tmp_path, wall) as running:
        leave_behind(running, EXPIRY_S)
        wall.set(after_s)
        wall.wait_until_noted(tmp_path / "data")
        running.end(signal.SIGKILL)
    wall.set(after_s + EXPIRY_S + 1)
    with broker(tmp_path, wall) as running:
        check_all_is_over(running)


@JUMPS
def test_what_waits_ends_when_its_time_has_passed_while_the_broker_runs(
    tmp_path: Path, wall: WallClock, before_s: int, after_s: int
) -> None:
    wall.set(before_s)
    with broker(tmp_path, wall) as running:
        wall.set(after_s)
        wall.wait_until_noted(tmp_path / "data")
        leave_behind(running, BRIEF_S)
        running.end(signal.SIGKILL)
    with broker(tmp_path, wall) as running:
        check_all_is_over(running)


def test_a_clock_that_is_set_back_while_the_broker_is_down_keeps_nothing_for_ever(
    tmp_path: Path, wall: WallClock
) -> None:
    """The time that it was down counts as none, and from then on time passes."""
    with broker(tmp_path, wall) as running:
        leave_behind(running, BRIEF_S)
        running.end(signal.SIGTERM)
    wall.set(-YEAR_S)
    with broker(tmp_path, wall) as running:
        check_all_is_over(running)
