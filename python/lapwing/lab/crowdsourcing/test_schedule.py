"""A point is thrown away for what the generator itself missed of the measured readings, and for nothing else."""

from __future__ import annotations

from typing import Any

from lapwing.lab.crowdsourcing.prepared import Prepared
from lapwing.lab.crowdsourcing.schedule import Schedule
from lapwing.lab.synthetic import Synthetic


def schedule(*, taken_up: int = 1000, late: int = 0, held: int = 0) -> Schedule:
    kept: dict[str, Any] = {"taken_up": taken_up, "late": late, "held": held}
    return Schedule.of(1000, kept | {"late_us": {"p50": 100.0, "p99": 101_000.0, "max": 900_000.0}})


def test_one_reading_in_a_hundred_may_be_late_or_missing() -> None:
    for kept in (schedule(), schedule(late=10), schedule(taken_up=990), schedule(late=5, taken_up=995)):
        assert kept.missed == ""


def test_what_was_late_and_what_never_went_add_up() -> None:
    assert "11 more than 100 ms late" in schedule(late=11).missed
    assert "11 not at all" in schedule(taken_up=989).missed
    both = schedule(late=9, taken_up=991).missed
    assert "9 more than 100 ms late (p99 101 ms), and 9 not at all" in both


def test_what_the_broker_held_is_not_the_generators_fault() -> None:
    kept = schedule(held=1000)
    assert kept.missed == ""
    assert kept.to_json()["held"] == 1000


def test_the_readings_that_are_measured_are_those_after_the_warm_up() -> None:
    source = Prepared(Synthetic(devices=20, seconds=4, rate=2, seed=1, speed=1.0))
    due_us = sorted(int(due) for batch in source.batches(0) for due in batch.due_us)
    assert source.due_from(0) == source.readings
    assert 0 < source.due_from(1.5) == sum(due >= 1_500_000 for due in due_us) < source.readings
