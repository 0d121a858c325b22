"""Commands that run until they are ended: do they come back when their broker does, and say so?"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import Running
from restarting import RestartingBroker

import lapwing
from lapwing.cli.again import PAUSE_MAX_S, Again, is_passing
from lapwing.cli.http_api import HttpAnswerError
from lapwing.errors import ConnectError, LapwingError, StreamError, TimedOutError

TIMEOUT_S = 30


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[RestartingBroker]:
    broker = RestartingBroker(tmp_path, "--set", "broker.shards=1", "--set", "streams.s.filter=s/#")
    broker.start()
    yield broker
    broker.kill()


def publish_until(url: str, topic: str, over: threading.Event) -> None:
    """Again and again: who subscribes anew does so at a moment that nobody here knows."""
    while not over.wait(0.05):
        try:
            with lapwing.Client(url) as client:
                client.publish(topic, "after", qos=1)
                client.flush()
        except LapwingError:
            continue


def said(command: Running, what: str) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not any(what in line for line in command.errors):
        assert time.monotonic() < deadline, command.errors
        time.sleep(0.02)


def test_sub_comes_back(broker: RestartingBroker) -> None:
    """Does it say that the broker is gone and there again, and print what comes then?"""
    over = threading.Event()
    with Running("sub", "s/#", "--url", broker.url) as sub:
        first = threading.Thread(target=publish_until, args=(broker.url, "s/a", over))
        first.start()
        assert sub.line() == "s/a after"
        over.set()
        first.join()
        broker.kill()
        said(sub, "trying again in")
        broker.start()
        over.clear()
        second = threading.Thread(target=publish_until, args=(broker.url, "s/b", over))
        second.start()
        while sub.line() != "s/b after":
            pass
        over.set()
        second.join()
        said(sub, "connected again after")


def test_stream_read_comes_back_and_misses_nothing(broker: RestartingBroker) -> None:
    def put(payload: str) -> None:
        with lapwing.Client(broker.url) as client:
            client.publish("s/a", payload, qos=1)
            client.flush()

    put("one")
    with Running("stream", "read", "s", "0", "--follow", "--url", broker.http) as read:
        assert read.line() == "0 s/a one"
        broker.kill()
        said(read, "trying again in")
        broker.start()
        put("two")
        assert read.line() == "1 s/a two"
        said(read, "connected again after")


def test_who_is_refused_at_first_ends(broker: RestartingBroker) -> None:
    broker.kill()
    with Running("sub", "a", "--url", broker.url) as sub:
        assert sub.process.wait(TIMEOUT_S) == ConnectError.exit_code


@pytest.mark.parametrize(("status", "passes"), [(503, True), (502, True), (429, True), (404, False), (410, False)])
def test_a_broker_that_answers_while_it_stops_is_waited_for(status: int, passes: bool) -> None:
    error = StreamError("the node does not run")
    error.__cause__ = HttpAnswerError(status)
    assert is_passing(error) == passes


def test_pauses_grow_and_what_stays_wrong_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    again = Again("the broker")
    pauses: list[float] = []
    monkeypatch.setattr(again._rest, "wait", lambda pause_s: pauses.append(pause_s))
    for _ in range(9):
        assert again.lost(TimedOutError("no answer"))
    assert pauses[:3] == [0.5, 1.0, 2.0]
    assert pauses[-1] == PAUSE_MAX_S
    again.found()
    again.lost(TimedOutError("no answer"))
    assert pauses[-1] == 0.5
    with pytest.raises(ConnectError, match="not welcome"):
        again.lost(ConnectError("not welcome"))
