"""The made-up city: the same for the same seed, to the contract, and like a city."""

from __future__ import annotations

import json
import statistics
from collections import defaultdict
from typing import Any

import numpy as np
import pytest

from lapwing.errors import LapwingError
from lapwing.lab.synthetic import Synthetic

START_US = 1_700_000_000_000_000


def readings(source: Synthetic) -> list[dict[str, Any]]:
    return [json.loads(payload) for batch in source.batches(START_US) for payload in batch.payload]


@pytest.fixture(scope="module")
def city() -> list[dict[str, Any]]:
    return readings(Synthetic(devices=300, seconds=30, rate=2, seed=5))


def test_the_same_seed_gives_the_same_bytes_and_another_does_not() -> None:
    def payloads(seed: int) -> list[bytes]:
        source = Synthetic(devices=20, seconds=5, rate=1, seed=seed)
        return [payload for batch in source.batches(START_US) for payload in batch.payload]

    assert payloads(1) == payloads(1)
    assert payloads(1) != payloads(2)


def test_readings_keep_the_contract(city: list[dict[str, Any]]) -> None:
    from lapwing.contracts.reading import READING

    for reading in city:
        for field in READING:
            value = reading[field.name]
            assert value is not None or field.nullable, field.name
            if isinstance(value, (int, float)):
                assert field.low is not None
                assert field.high is not None
                assert field.low <= value <= field.high, field.name


def test_serials_rise_by_one_and_start_at_0_on_each_boot(city: list[dict[str, Any]]) -> None:
    by_boot: dict[tuple[str, int], list[int]] = defaultdict(list)
    for reading in city:
        by_boot[reading["device"], reading["boot"]].append(reading["serial"])
    assert all(serials == list(range(len(serials))) for serials in by_boot.values())
    assert len(by_boot) > 300, "nobody rebooted"


def test_a_device_says_nothing_between_leaving_and_joining() -> None:
    source = Synthetic(devices=200, seconds=40, rate=1, seed=5)
    away: set[int] = set()
    came_back = 0
    events: list[tuple[int, int, str, int]] = []
    for batch in source.batches(START_US):
        if batch.moves is not None:
            moves = zip(batch.moves.device, batch.moves.due_us, batch.moves.kind, strict=True)
            events += ((int(due), 0, kind, int(device)) for device, due, kind in moves)
        sent = zip(batch.device, batch.due_us, strict=True)
        events += ((int(due), 1, "send", int(device)) for device, due in sent)
    for _due, _order, kind, device in sorted(events):
        assert (kind == "join") == (device in away)
        if kind == "leave":
            away.add(device)
        elif kind == "join":
            away.remove(device)
            came_back += 1
    assert came_back > 0


def test_due_times_never_fall_and_stay_within_the_run() -> None:
    source = Synthetic(devices=7, seconds=4, rate=3, seed=1)
    due = np.concatenate([batch.due_us for batch in source.batches(START_US)])
    assert np.all(np.diff(due) >= 0)
    assert 0 <= due[0] <= due[-1] <= 4_000_000


def test_nothing_is_measured_after_it_is_sent(city: list[dict[str, Any]]) -> None:
    assert all(reading["measured_at"] <= reading["sent_at"] for reading in city)


def test_signals_are_those_of_a_city(city: list[dict[str, Any]]) -> None:
    rsrp = [reading["rsrp_dbm"] for reading in city]
    assert -105 < statistics.median(rsrp) < -80
    assert len({(reading["network"], reading["channel"]) for reading in city}) == 6
    assert {type(reading["occupied_share"]) for reading in city} >= {float, type(None)}


def test_neighbours_hear_alike() -> None:
    # Shadowing must be spatially correlated: points 10 m apart differ far less than points 1 km apart.
    from lapwing.lab.city import NETWORKS, Coverage

    coverage = Coverage(NETWORKS[1], np.random.default_rng(3))
    x, y = np.random.default_rng(4).uniform(-2000, 2000, (2, 4000))
    here, near, far = (coverage.at(x + step, y).rsrp_dbm for step in (0, 10, 1000))
    assert np.abs(here - near).mean() < 0.3 * np.abs(here - far).mean()


def test_an_argument_that_is_not_above_0_is_refused() -> None:
    with pytest.raises(LapwingError, match="--rate"):
        Synthetic(devices=1, seconds=1, rate=0, seed=1)


def test_a_city_does_not_begin_before_1970() -> None:
    for speed in (1.1e9, float("inf")):
        with pytest.raises(LapwingError, match="--speed"):
            Synthetic(devices=1, seconds=1, rate=1, seed=1, speed=speed)
