"""From records to rows: what counts as ended, late, repeated, and what a cut run says."""

from __future__ import annotations

import numpy as np
import pytest

from lapwing.lab.dispatch.outcome import FIGURES, Outcome, outcome, row
from lapwing.lab.dispatch.scenario import SCENARIOS
from lapwing.lab.dispatch.session import HANDLED_RECORD, SENT_RECORD, Books
from lapwing.lab.dispatch.trace import MESSAGE, Trace

MS = 1_000_000
LINK = {"pieces": 0, "late_p50_us": 0.0, "late_p99_us": 0.0}


def _trace(at_ms: list[float], critical: list[int]) -> Trace:
    messages = np.array([(at, 1.0, flag) for at, flag in zip(at_ms, critical, strict=True)], MESSAGE)
    return Trace(SCENARIOS["hetero"], 0.7, 1, 10.0, (), messages)


def _outcome(ends: list[tuple[int, int]], critical: list[int], cut_ms: int, warm_s: float = 0.0) -> Outcome:
    """``ends``: (message, when in ms); message N is sent at N * 1000 ms."""
    handled = np.array([(number, 0, 0, at * MS, at * MS) for number, at in ends], HANDLED_RECORD)
    sent = np.array([(number * 1000 * MS + 1, number * 1000 * MS + 1) for number in range(len(critical))], SENT_RECORD)
    members = np.zeros(len(handled), np.int64)
    books = Books(handled, members, sent, cut_ms * MS, {"refused": 0}, LINK, {"broker": 0.0}, 1.0, {})
    return outcome(_trace([number * 1e3 for number in range(len(critical))], critical), books, warm_s)


def test_the_first_end_counts_and_the_second_is_a_repetition() -> None:
    one = _outcome([(0, 40), (1, 1900), (1, 1100)], [0, 0], cut_ms=5000)
    assert one.latency_ms == pytest.approx([40, 100], abs=0.01)
    assert one.extra_ends.tolist() == [0, 1]


def test_what_had_not_ended_counts_with_the_time_until_the_cut() -> None:
    one = _outcome([(0, 40)], [0, 1], cut_ms=5000)
    assert one.has_ended.tolist() == [True, False]
    assert one.latency_ms[1] == pytest.approx(4000, abs=0.01)


def test_the_warm_up_does_not_count() -> None:
    one = _outcome([(0, 900), (1, 1010), (2, 2020)], [0, 0, 1], cut_ms=5000, warm_s=1.0)
    assert one.latency_ms == pytest.approx([10, 20], abs=0.01)
    assert one.block.tolist() == [0, 0]


def test_a_row_counts_misses_among_critical_messages_only() -> None:
    late = _outcome([(0, 300), (1, 1300), (2, 2010), (3, 3010)], [1, 0, 1, 0], cut_ms=9000)
    made = row("lef", "hetero", 0.7, [late, late])
    assert made.figures["missed_share"].value == pytest.approx(0.5)
    assert (made.messages, made.seeds, made.unfinished) == (8, 2, 0)


def test_every_figure_has_its_interval_in_the_json() -> None:
    document = row("lef", "hetero", 0.7, [_outcome([(0, 40)], [1], cut_ms=900)]).to_json()
    for name in FIGURES:
        low, high = document[f"{name}_interval"]
        assert low <= document[name] <= high
