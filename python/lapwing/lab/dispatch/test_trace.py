"""The days of the experiment: what a trace holds, and that it is the same whoever makes it."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from lapwing.errors import ConfigError
from lapwing.lab.dispatch.day import Day, Steps
from lapwing.lab.dispatch.scenario import SCENARIOS, scenario_named
from lapwing.lab.dispatch.trace import Trace, make_trace

STILL = Steps([0.0], [10.0])


def test_a_seed_gives_the_same_bytes_and_another_seed_another_day(tmp_path: Path) -> None:
    first, again = (make_trace(SCENARIOS["hetero"], 0.7, 1, 5.0) for _ in range(2))
    other = make_trace(SCENARIOS["hetero"], 0.7, 2, 5.0)
    files = [trace.write(tmp_path / str(number)) for number, trace in enumerate((first, again))]
    for name in ("trace.json", "messages.bin"):
        assert files[0].joinpath(name).read_bytes() == files[1].joinpath(name).read_bytes()
    assert first.messages.tobytes() != other.messages.tobytes()


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    trace = make_trace(SCENARIOS["blackholes"], 0.5, 3, 5.0)
    read = Trace.read(trace.write(tmp_path))
    assert read.days == trace.days
    assert read.messages.tobytes() == trace.messages.tobytes()
    assert (read.scenario, read.load, read.seed, read.seconds) == (trace.scenario, 0.5, 3, 5.0)


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
def test_a_day_offers_the_load_that_it_names(scenario: object) -> None:
    trace = make_trace(scenario, 0.7, 1, 60.0)  # type: ignore[arg-type]
    capacity_per_s = sum(day.speed.mean(60e3) for day in trace.days) * 1e3
    work_per_s = trace.messages["work"].sum() / 60
    assert work_per_s / capacity_per_s == pytest.approx(0.7, rel=0.1)
    assert trace.messages["is_critical"].mean() == pytest.approx(0.1, abs=0.02)
    assert (np.diff(trace.messages["at_ms"]) >= 0).all()


def test_every_seed_has_the_same_spread_of_speeds_and_distances() -> None:
    days = [make_trace(SCENARIOS["hetero"], 0.7, seed, 5.0).days for seed in (1, 2)]
    speeds = [sorted(max(day.speed.values) for day in one) for one in days]
    trips = [sorted(day.round_trip_ms.values[0] for day in one) for one in days]
    assert speeds[0] == pytest.approx(speeds[1])
    assert trips[0] == pytest.approx(trips[1])
    assert 0.02 < speeds[0][0] < speeds[0][-1] < 0.2
    assert 1 < trips[0][0] < trips[0][-1] < 200


def test_a_name_that_is_no_scenario_is_refused_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match="blackholes"):
        scenario_named("sunny")


def test_work_goes_on_where_a_pause_had_stopped_it() -> None:
    day = Day(Steps([0.0, 100.0, 300.0, 400.0], [0.1, 0.0, 0.05, 0.1]), STILL)
    assert day.finish_ms(0.0, 5.0) == pytest.approx(50.0)
    assert day.finish_ms(80.0, 4.0) == pytest.approx(340.0)  # 20 ms at 0.1, the pause, 40 ms at 0.05
    assert day.finish_ms(150.0, 10.0) == pytest.approx(450.0)


def test_work_that_never_goes_on_is_never_done() -> None:
    assert Day(Steps([0.0, 10.0], [0.1, 0.0]), STILL).finish_ms(0.0, 2.0) == math.inf


def test_a_member_is_frozen_to_the_end_of_its_pauses() -> None:
    day = Day(Steps([0.0, 100.0, 200.0, 300.0], [0.1, 0.0, 0.0, 0.1]), STILL)
    assert [day.frozen_until_ms(at_ms) for at_ms in (-5.0, 50.0, 100.0, 250.0, 300.0)] == [
        -5.0,
        50.0,
        300.0,
        300.0,
        300.0,
    ]
