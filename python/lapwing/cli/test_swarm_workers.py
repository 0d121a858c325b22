"""One worker process of a swarm, as its parent sees it."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from lapwing.cli.swarm_end import EndWatch
from lapwing.cli.swarm_workers import Workers, _part, _Worker
from lapwing.errors import LapwingError


class _Ending:
    """A process that writes a last line (or none) and ends in the moment in which it is asked."""

    returncode = 0

    def __init__(self, lines: dict[str, Any], last: dict[str, Any]) -> None:
        self._lines, self._last = lines, last

    def poll(self) -> int:
        self._lines.update(self._last)
        return 0


def _worker(last: dict[str, Any]) -> Any:
    worker: Any = _Worker.__new__(_Worker)
    worker._lines = {}
    worker._process = _Ending(worker._lines, last)
    worker._listener = threading.Thread()
    return worker


def test_a_line_that_comes_with_the_end_counts() -> None:
    assert _worker({"outcome": {}}).has("outcome")


def test_an_end_without_the_line_is_an_error() -> None:
    with pytest.raises(LapwingError, match="ended with code 0"):
        _worker({"progress": {}}).has("outcome")


class _Told:
    """A worker that has said how far it is, and notes what it is told."""

    def __init__(self, **counts: int) -> None:
        names = ("sent", "expected", "delivered", "owed", "answered", "waiting", "awake", "publishing")
        self.lines: dict[str, Any] = {"progress": dict.fromkeys(names, 0) | counts} if counts else {}
        self.orders: list[dict[str, Any]] = []

    def latest(self, kind: str) -> Any:
        return self.lines.get(kind)

    def has(self, kind: str) -> bool:
        return kind in self.lines

    def tell(self, order: dict[str, Any]) -> None:
        self.orders.append(order)


def _workers(*workers: _Told, drain_s: float = 1e6) -> Any:
    made: Any = Workers({"drain_s": drain_s, "sleep_s": 0.0}, 0)
    made._workers = list(workers)
    return made


def test_who_only_listens_is_not_ended_while_another_publishes() -> None:
    publisher = _Told(sent=3, expected=6, delivered=3, publishing=1)
    listener = _Told(delivered=3)
    workers = _workers(publisher, listener, drain_s=0.0)
    assert not workers.wait(0)
    assert publisher.orders == listener.orders == []
    publisher.lines["progress"] |= {"publishing": 0, "waiting": 1}
    workers._watch = EndWatch(1e6)
    assert not workers.wait(0)
    assert publisher.orders == listener.orders == []


def test_all_are_ended_once_when_together_they_have_everything() -> None:
    publisher = _Told(sent=3, expected=6, delivered=3)
    listener = _Told(delivered=3)
    workers = _workers(publisher, listener)
    assert not workers.wait(0)
    assert publisher.orders == listener.orders == [{"end": True}]
    publisher.lines["outcome"] = listener.lines["outcome"] = {}
    assert workers.wait(0)


def test_who_has_said_nothing_yet_is_waited_for() -> None:
    told = _Told(sent=3, expected=3, delivered=3)
    assert not _workers(told, _Told(), drain_s=0.0).wait(0)
    assert told.orders == []


def test_each_that_has_failed_is_heard_of_however_long_others_go_on() -> None:
    workers = _workers(_Told(publishing=1))
    workers._workers.append(_worker({"progress": {}}))
    with pytest.raises(LapwingError, match="ended with code 0"):
        workers.wait(0)


def test_each_part_has_its_number_its_cpus_and_on_the_loopback_its_address() -> None:
    whole = {"url": "tcp://127.0.0.1:1883", "pin": [0, 1, 2], "threads": 2}
    parts = [_part(whole, number) for number in range(2)]
    assert [part["worker"] for part in parts] == [0, 1]
    assert [part["pin"] for part in parts] == [[0, 1], [2, 0]]
    assert parts[0]["sources"] != parts[1]["sources"]
    assert _part(whole | {"url": "broker:1883"}, 0)["sources"] == []
