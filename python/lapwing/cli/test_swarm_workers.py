"""One worker process of a swarm, as its parent sees it."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from lapwing.cli.swarm_workers import _part, _Worker
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


def test_each_part_has_its_number_its_cpus_and_on_the_loopback_its_address() -> None:
    whole = {"url": "tcp://127.0.0.1:1883", "pin": [0, 1, 2], "threads": 2}
    parts = [_part(whole, number) for number in range(2)]
    assert [part["worker"] for part in parts] == [0, 1]
    assert [part["pin"] for part in parts] == [[0, 1], [2, 0]]
    assert parts[0]["sources"] != parts[1]["sources"]
    assert _part(whole | {"url": "broker:1883"}, 0)["sources"] == []
