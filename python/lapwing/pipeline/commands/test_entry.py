"""What becomes of a command, by what is heard and by the clock."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from lapwing.contracts.command_tables import COMMANDS, STATES
from lapwing.contracts.commands import Answer, Command, Measure, encode
from lapwing.pipeline.commands.entry import FAILED, OPEN, PUBLISHED_MAX, SLACK_US, Entry

SECOND = 1_000_000
AT = datetime(1970, 1, 1, tzinfo=UTC)
ORDER = encode(Command("0123456789ab-0-0", "d", AT, AT + timedelta(seconds=60), Measure("17/1/1", 20.0, 0.1)))
ENTRY = Entry("0123456789ab-0-0", "d", "measure", "17/1/1", ORDER, 0, 60 * SECOND, SECOND)
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
    assert done.with_time(10**15, is_gone=True) == done


def test_a_refusal_says_why() -> None:
    refused = PUBLISHED.with_answer(answer("refused", reason="not_there"), 9 * SECOND)
    assert (refused.state, refused.reason, refused.ended_at) == ("refused", "not_there", 9 * SECOND)
    assert refused.with_replacement("other").state == "reassigned"


def test_it_expires_when_nobody_begins_or_nobody_ends() -> None:
    assert PUBLISHED.with_time(60 * SECOND) == PUBLISHED
    assert PUBLISHED.with_time(60 * SECOND + 1).reason == "no_answer"
    assert ENTRY.with_time(60 * SECOND + 1).reason == "never_published"
    begun = PUBLISHED.with_answer(answer("acknowledged"), 6 * SECOND)
    last = 60 * SECOND + 20 * SECOND + SLACK_US
    assert begun.with_time(last) == begun
    assert begun.with_time(last + 1).reason == "no_end"


def test_who_said_that_he_is_gone_is_given_up_if_he_had_begun() -> None:
    begun = PUBLISHED.with_answer(answer("acknowledged"), 6 * SECOND)
    assert begun.with_time(7 * SECOND, is_gone=True).reason == "gone"
    assert PUBLISHED.with_time(7 * SECOND, is_gone=True) == PUBLISHED  # it may come back and begin


def test_no_clock_of_a_device_breaks_the_table() -> None:
    far = datetime.max.replace(tzinfo=timezone(timedelta(hours=-12)))
    for at, us in ((far, 253_402_300_799_999_999), (datetime.min.replace(tzinfo=UTC), 0), (ANSWERED_AT, 5 * SECOND)):
        begun = PUBLISHED.with_answer(Answer(ENTRY.id, "d", at, "acknowledged"), SECOND)
        assert begun.acknowledged_at == us


def test_an_end_that_comes_late_is_an_end() -> None:
    late = PUBLISHED.with_time(60 * SECOND + 1).with_answer(answer("done"), 62 * SECOND)
    assert (late.state, late.reason) == ("done", None)
    reassigned = PUBLISHED.with_time(60 * SECOND + 1).with_replacement("other")
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
    begun = replace(PUBLISHED, state="acknowledged")
    assert not begun.wants_repeat(31 * SECOND, repeat)  # it still measures
    assert begun.wants_repeat(32 * SECOND, repeat)
    assert begun.wants_repeat(139 * SECOND, repeat)  # the device knows it: it only answers
    assert not begun.wants_repeat(140 * SECOND, repeat)
