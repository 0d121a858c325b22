"""What counts time, a session's expiry and a will's delay, over kills: it goes on, and begins at no start anew."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from commands import RunningBroker
from test_sessions_killed import broker, is_silent, kept, take
from web import get

from lapwing import Client
from lapwing.client import Will

DEADLINE_S = 30.0
# Clocks of the broker count whole milliseconds.
ROUNDING_S = 0.05
# A delay, and how late something may come without having begun it anew.
DELAY_S = 8
BUSY_S = 6.0


def until(is_so: Callable[[], bool]) -> None:
    """Looks until it is so."""
    deadline = time.monotonic() + DEADLINE_S
    while not is_so():
        assert time.monotonic() < deadline, "it did not become so in time"
        time.sleep(0.02)


def ends_in_s(running: RunningBroker, name: str) -> int:
    """Seconds that are left of a session whose client is away, rounded up."""
    answer = get(f"{running.http}/v1/sessions/{name}")
    assert answer.status_code == 200, answer.text
    left = answer.json()["ends_in_s"]
    assert isinstance(left, int), f"{name} is not away"
    return left


def connected(running: RunningBroker) -> set[str]:
    """Who is here."""
    answer = get(f"{running.http}/v1/sessions", {"state": "connected"})
    assert answer.status_code == 200, answer.text
    return {row["client_id"] for row in answer.json()["sessions"]}


def has_gone(running: RunningBroker, *names: str) -> None:
    """Until the disk has heard that these clients are away."""
    until(lambda: connected(running).isdisjoint(names))
    # One log has both: this CONNACK waits for its own entry, which comes behind theirs.
    kept(running, "behind").disconnect()


def pass_since(begun: float, seconds: float) -> None:
    """Lets time pass that nobody may shorten: the broker is down, or does what it does in it unasked."""
    time.sleep(max(0.0, begun + seconds - time.monotonic()))


def sensor(running: RunningBroker) -> Client:
    """A client whose session outlives it for a minute, and whose will waits for a while."""
    will = Will("wills/sensor", b"gone", qos=1, delay_s=DELAY_S)
    return Client(running.url, client_id="sensor", clean_start=False, session_expiry_s=60, will=will).connect()


def test_the_time_of_a_session_passes_while_the_broker_is_down(tmp_path: Path) -> None:
    """The first one that asks finds it ended, or with so much less left; one that had not ended does so later."""
    with broker(tmp_path, 1) as running:
        for name, expiry_s in (("short", 3), ("middle", 8), ("long", 60)):
            kept(running, name, expiry_s=expiry_s).disconnect()
        has_gone(running, "short", "middle", "long")
        away = time.monotonic()
        running.process.kill()
    pass_since(away, 4.0)
    with broker(tmp_path, 1) as running:
        assert not kept(running, "short", expiry_s=3).session_present
        assert ends_in_s(running, "long") <= 56
        until(lambda: get(f"{running.http}/v1/sessions/middle").status_code == 404)


def expect_will(guard: Client, *, due: float, at_last: float) -> None:
    """It comes once, when it is due and not before; or when the guard could first have it, on a busy machine later."""
    assert take(guard, 1) == ["gone"]
    came = time.monotonic()
    assert came >= due - ROUNDING_S, "its delay was not over"
    assert came < at_last + BUSY_S, "its delay began anew"
    assert is_silent(guard)


def test_a_client_that_a_kill_found_connected_is_away_from_the_first_start_on(tmp_path: Path) -> None:
    """It never comes back, and the broker is killed again: neither its session nor its will begins to wait anew."""
    with broker(tmp_path, 1) as running:
        kept(running, "guard").subscribe("wills/#", qos=1)
        client = sensor(running)
        running.process.kill()
    client.abort()
    started = time.monotonic()
    with broker(tmp_path, 1) as running:
        until(lambda: ends_in_s(running, "sensor") <= 56)
        four_seconds_later = time.monotonic()
        running.process.kill()
    with broker(tmp_path, 1) as running:
        ready = time.monotonic()
        assert ends_in_s(running, "sensor") <= 56
        at_last = max(ready, four_seconds_later + DELAY_S - 4)
        expect_will(kept(running, "guard"), due=started + DELAY_S, at_last=at_last)


def test_a_will_comes_when_its_delay_is_over_whoever_died_meanwhile(tmp_path: Path) -> None:
    """The client has vanished, then the broker: the delay goes on from the first."""
    with broker(tmp_path, 1) as running:
        kept(running, "guard").subscribe("wills/#", qos=1)
        client = sensor(running)
        before = time.monotonic()
        client.abort()
        has_gone(running, "sensor")
        vanished = time.monotonic()
        pass_since(vanished, 4.0)
        running.process.kill()
    with broker(tmp_path, 1) as running:
        ready = time.monotonic()
        expect_will(kept(running, "guard"), due=before + DELAY_S, at_last=max(ready, vanished + DELAY_S))
