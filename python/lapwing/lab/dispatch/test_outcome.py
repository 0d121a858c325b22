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


def _outcome(
    ends: list[tuple[int, int]],
    critical: list[int],
    cut_ms: int,
    warm_s: float = 0.0,
    held_ms: dict[int, int | None] | None = None,
) -> Outcome:
    """``ends``: (message, when in ms); message N is due at N * 1000 ms, and sent then or, by ``held_ms``, later or
    never.
    """
    handled = np.array([(number, 0, 0, at * MS, at * MS) for number, at in ends], HANDLED_RECORD)
    due = [number * 1000 * MS + 1 for number in range(len(critical))]
    held = [(held_ms or {}).get(number, 0) for number in range(len(critical))]
    records = [(at, 0 if more is None else at + more * MS) for at, more in zip(due, held, strict=True)]
    sent = np.array(records, SENT_RECORD)
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


def test_what_was_sent_late_counts_from_the_instant_at_which_it_was_due() -> None:
    """A broker that lets nothing more be sent would look fast: what waited with the publisher is waiting, too."""
    one = _outcome([(0, 40), (1, 1910)], [0, 1, 1], cut_ms=5000, held_ms={1: 900, 2: None})
    assert one.latency_ms == pytest.approx([40, 910, 3000], abs=0.01)
    assert row("lef", "hetero", 0.7, [one]).figures["missed_share"].value == 1
    assert one.conditions["publisher_late_us"] == pytest.approx([450e3, 891e3])


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
