"""What becomes of a command, by what is heard and by the clock."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from lapwing.contracts.command_tables import COMMANDS, STATES
from lapwing.contracts.commands import Answer
from lapwing.pipeline.commands.entry import FAILED, OPEN, PUBLISHED_MAX, Entry

SECOND = 1_000_000
ENTRY = Entry("0123456789ab-0-0", "d", "measure", "17/1/1", b"{}", 0, 60 * SECOND, SECOND)
PUBLISHED = ENTRY.with_publication(2 * SECOND)
ANSWERED_AT = datetime(1970, 1, 1, 0, 0, 5, tzinfo=UTC)


def answer(outcome: Any, **more: Any) -> Answer:
    return Answer(ENTRY.id, "d", ANSWERED_AT, outcome, **more)


def test_states_are_those_that_the_table_names() -> None:
    assert {*OPEN, *FAILED, "done", "reassigned"} == set(STATES)
    assert set(ENTRY.row()) == set(COMMANDS.names)


@pytest.mark.parametrize("begun", [ENTRY, PUBLISHED, PUBLISHED.with_answer(answer("acknowledged"), 6 * SECOND)])
def test_it_is_done_whatever_was_heard_before(begun: Entry) -> None:
    done = begun.with_answer(answer("done", readings=3), 9 * SECOND)
    assert (done.state, done.ended_at, done.acknowledged_at, done.readings) == ("done", 9 * SECOND, 5 * SECOND, 3)
    assert done.with_answer(answer("done", readings=3), 10 * SECOND) == done
    assert done.with_answer(answer("acknowledged"), 10 * SECOND) == done
    assert done.with_answer(answer("refused", reason="busy"), 10 * SECOND) == done
    assert done.with_time(10**15, 0) == done


def test_a_refusal_says_why() -> None:
    refused = PUBLISHED.with_answer(answer("refused", reason="not_there"), 9 * SECOND)
    assert (refused.state, refused.reason, refused.ended_at) == ("refused", "not_there", 9 * SECOND)
    assert refused.with_replacement("other").state == "reassigned"


def test_it_expires_when_nobody_begins_or_nobody_ends() -> None:
    assert PUBLISHED.with_time(60 * SECOND, SECOND) == PUBLISHED
    assert PUBLISHED.with_time(60 * SECOND + 1, SECOND).reason == "no_answer"
    assert ENTRY.with_time(60 * SECOND + 1, SECOND).reason == "never_published"
    begun = PUBLISHED.with_answer(answer("acknowledged"), 6 * SECOND)
    assert begun.with_time(61 * SECOND, SECOND) == begun
    assert begun.with_time(61 * SECOND + 1, SECOND).reason == "no_end"


def test_an_end_that_comes_late_is_an_end() -> None:
    late = PUBLISHED.with_time(60 * SECOND + 1, SECOND).with_answer(answer("done"), 62 * SECOND)
    assert (late.state, late.reason) == ("done", None)
    reassigned = PUBLISHED.with_time(60 * SECOND + 1, SECOND).with_replacement("other")
    assert reassigned.with_answer(answer("done"), 62 * SECOND) == reassigned


def test_it_is_repeated_a_few_times_until_somebody_answers() -> None:
    entry, repeat = PUBLISHED, 10 * SECOND
    times = []
    for second in range(60):
        if entry.wants_repeat(second * SECOND, repeat):
            entry = entry.with_publication(second * SECOND)
            times.append(second)
    assert times == [12, 22]
    assert entry.published == PUBLISHED_MAX
    assert entry.published_at == 2 * SECOND
    assert not PUBLISHED.wants_repeat(60 * SECOND, repeat)
    assert not replace(PUBLISHED, state="acknowledged").wants_repeat(30 * SECOND, repeat)
