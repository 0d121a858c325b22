"""The end of a swarm over several processes."""

from __future__ import annotations

from lapwing.cli.swarm_end import EndWatch

_ALL = {"sent": 9, "expected": 18, "delivered": 18, "owed": 9, "answered": 9, "waiting": 0, "awake": 0, "publishing": 0}


def test_the_last_arrival_and_the_last_answer_are_the_end() -> None:
    for missing in ({"delivered": 17}, {"answered": 8}, {"waiting": 1}, {"awake": 1}, {"publishing": 1}):
        assert not EndWatch(drain_s=5).is_over(_ALL | missing, now_s=100.0), missing
    assert EndWatch(drain_s=5).is_over(_ALL, now_s=100.0)


def test_the_drain_time_is_that_of_the_setting_and_begins_after_the_last_message() -> None:
    watch = EndWatch(drain_s=5)
    for now_s in range(100, 160):
        assert not watch.is_over(_ALL | {"delivered": 3, "publishing": 1}, now_s)
    assert not watch.is_over(_ALL | {"delivered": 3}, 163.9)
    assert watch.is_over(_ALL | {"delivered": 3}, 164.0)


def test_an_arrival_begins_the_drain_anew_and_sleepers_awake_once_more() -> None:
    watch = EndWatch(drain_s=5, sleep_s=30)
    assert not watch.is_over(_ALL | {"delivered": 3}, 100.0)
    assert not watch.is_over(_ALL | {"delivered": 4}, 160.0)
    assert not watch.is_over(_ALL | {"delivered": 4}, 224.9)
    assert watch.is_over(_ALL | {"delivered": 4}, 225.0)
