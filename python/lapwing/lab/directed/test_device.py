"""Does a device do what it is told, once, and send no more than it would have?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from lapwing.contracts.commands import Command, Measure, Rate, Report
from lapwing.lab.directed.device import SECOND_US, DirectedDevice

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
START_US = round(START.timestamp() * 1e6)
TILE = "17/1/1"


def device(**changes: Any) -> DirectedDevice:
    one = DirectedDevice("d", ("5G",), 0.1, 12, 0, **changes)
    one.begin(START_US)
    return one


def command(number: int = 0, order: Any = None, seconds: float = 60) -> Command:
    measure = Measure(TILE, 3.0, 1.0, "5G", 6300)
    return Command(f"0123456789ab-0-{number}", "d", START, START + timedelta(seconds=seconds), order or measure)


def run(one: DirectedDevice, begin_s: int, end_s: int, tile: str = TILE) -> tuple[list[int], list[str]]:
    """Seconds at which it measured, and outcomes it told."""
    at: list[int] = []
    told: list[str] = []
    for second in range(begin_s, end_s):
        samples, answers = one.measure(START_US + second * SECOND_US, tile)
        at += [second] * len(samples)
        told += [answer.outcome for answer in answers]
    return at, told


def test_without_commands_it_keeps_its_schedule() -> None:
    at, told = run(device(), 0, 200)
    assert at == list(range(0, 120, 10))
    assert not told


def test_what_it_measures_on_command_it_does_not_measure_later() -> None:
    one = device()
    at, _ = run(one, 0, 5)
    (answer,) = one.hear(command(), START_US + 5 * SECOND_US, TILE)
    assert (answer.outcome, answer.state.tile) == ("acknowledged", TILE)
    later, told = run(one, 5, 200)
    assert at + later == [0, 5, 6, 7, 40, 50, 60, 70, 80, 90, 100, 110]
    assert told == ["done"]
    assert one.sent == 12


def test_a_command_is_executed_once_also_after_a_reboot() -> None:
    one = device()
    one.hear(command(), START_US, TILE)
    run(one, 0, 5)
    assert one.hear(command(), START_US, TILE)[0].outcome == "done"
    again = device(memory=one.memory)
    assert again.hear(command(), START_US, TILE)[0].outcome == "done"
    assert (one.executed, again.executed) == ([command().id], [])


@pytest.mark.parametrize(
    ("reason", "order", "tile", "changes", "late_s"),
    [
        ("not_there", None, "17/9/9", {}, 0),
        ("too_late", None, TILE, {}, 61),
        ("cannot", Measure(TILE, 1.0, 1.0, "LTE"), TILE, {}, 0),
        ("low_battery", None, TILE, {"battery": 0.01}, 0),
        ("no_budget", None, TILE, {"debt_max": 0}, 0),
    ],
)
def test_it_says_why_it_does_not(reason: str, order: Any, tile: str, changes: dict[str, Any], late_s: int) -> None:
    one = device(**changes)
    (answer,) = one.hear(command(0, order), START_US + late_s * SECOND_US, tile)
    assert (answer.outcome, answer.reason) == ("refused", reason)
    assert not one.executed


def test_one_command_at_a_time() -> None:
    one = device()
    one.hear(command(0), START_US, TILE)
    assert one.hear(command(1), START_US, TILE)[0].reason == "busy"


def test_a_device_that_leaves_ends_what_it_was_told() -> None:
    one = device()
    one.hear(command(), START_US, TILE)
    assert len(one.measure(START_US, TILE)[0]) == 1  # on command, in place of one of its own
    samples, (answer,) = one.measure(START_US + SECOND_US, "17/9/9")
    assert (samples, answer.outcome, answer.readings) == ([], "done", 1)


def test_rate_and_report_are_done_at_once() -> None:
    one = device()
    assert [each.outcome for each in one.hear(command(0, Rate(1.0)), START_US, TILE)] == ["acknowledged", "done"]
    (_, done) = one.hear(command(1, Report()), START_US, TILE)
    assert (done.state.rate_hz, done.state.budget, done.state.battery) == (1.0, 6, 1.0)
    assert run(one, 1, 6)[0] == [1, 2, 3, 4, 5]


def test_commands_of_others_are_not_heard() -> None:
    other = Command("0123456789ab-0-0", "e", START, START, Report())
    assert not device().hear(other, START_US, TILE)
