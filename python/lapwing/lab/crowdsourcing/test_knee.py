"""The rule of the knee, on points made by hand."""

from __future__ import annotations

from typing import Any

import pytest

from lapwing.lab.crowdsourcing.knee import Measured, knee


def point(devices: int, **changed: Any) -> Measured:
    usual: dict[str, Any] = {"ended": "", "thrown_away": "", "due": 10_000, "missing": 0, "p99_ms": 10.0}
    return Measured(devices, **usual | changed)


def test_all_hold() -> None:
    found = knee([point(500), point(1000), point(2000)])
    assert (found.devices, found.breaks_at) == (2000, None)


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"missing": 2}, "lost"),
        ({"p99_ms": 111.0}, "p99"),
        ({"p99_ms": float("nan")}, "p99"),
        ({"ended": "broker ended by signal 9"}, "signal 9"),
    ],
)
def test_the_first_that_gives_is_why(changed: dict[str, Any], word: str) -> None:
    found = knee([point(500), point(1000), point(2000, **changed), point(5000)])
    assert (found.devices, found.breaks_at) == (1000, 2000)
    assert word in found.why


@pytest.mark.parametrize("changed", [{"missing": 1}, {"p99_ms": 109.0}])
def test_what_is_within_the_rule_holds(changed: dict[str, Any]) -> None:
    assert knee([point(500), point(1000, **changed)]).breaks_at is None


def test_three_times_the_first_is_allowed_where_that_is_more() -> None:
    assert knee([point(500, p99_ms=1000.0), point(1000, p99_ms=2900.0)]).breaks_at is None
    assert knee([point(500, p99_ms=1000.0), point(1000, p99_ms=3100.0)]).breaks_at == 1000


def test_points_thrown_away_say_nothing() -> None:
    late = {"thrown_away": "the generator was late", "missing": 5000}
    assert knee([point(500), point(1000, **late), point(2000)]).devices == 2000
    found = knee([point(500), point(1000), point(2000, **late)])
    assert (found.devices, found.breaks_at) == (1000, None)
    assert "late" in found.why
    assert knee([point(500, **late)]).devices == 0
    assert knee([]).why == "no point counts: nothing was measured"


def test_not_even_the_fewest() -> None:
    found = knee([point(500, missing=100)])
    assert (found.devices, found.breaks_at) == (0, 500)
