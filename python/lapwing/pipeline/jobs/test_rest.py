"""When does a query rest, and how long?"""

from __future__ import annotations

from pathlib import Path
from unittest.mock import Mock

import pytest

from lapwing.pipeline.errors import TableError
from lapwing.pipeline.jobs import stream_job
from lapwing.pipeline.jobs.coverage import CoverageJob
from lapwing.pipeline.jobs.rest import REST_S_MAX, Rest


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


class PlayedNews:
    """Comes after so many looks, each of which takes as long as it is given."""

    def __init__(self, clock: Clock, looks: int) -> None:
        self._clock, self.looks = clock, looks

    def come(self, timeout_s: float) -> bool:
        self._clock.now_s += timeout_s
        self.looks -= 1
        return self.looks < 0

    def close(self) -> None: ...


def test_a_query_rests_when_nothing_has_come_for_long_enough() -> None:
    clock = Clock()
    rest = Rest(after_s=60, trigger_s=1, clock=clock)
    clock.now_s += 59
    assert not rest.is_due
    rest.stir()
    clock.now_s += 59
    assert not rest.is_due
    clock.now_s += 1
    assert rest.is_due


def test_it_never_rests_where_it_is_told_so_or_gains_nothing() -> None:
    for after_s, trigger_s in ((0.0, 1.0), (60.0, 60.0), (60.0, 3600.0), (60.0, None)):
        clock = Clock()
        rest = Rest(after_s=after_s, trigger_s=trigger_s, clock=clock)
        clock.now_s += 1e6
        assert not rest.is_due, (after_s, trigger_s)


def test_what_comes_ends_the_rest_and_so_does_time_and_who_stops_the_job() -> None:
    clock = Clock()
    rest = Rest(after_s=60, trigger_s=1, clock=clock)
    rest.begin()
    assert rest.is_on
    rest.wait(PlayedNews(clock, looks=5), lambda: False)
    assert clock.now_s == 106
    rest.wait(PlayedNews(clock, looks=10**9), lambda: False)
    assert clock.now_s == 106 + REST_S_MAX
    news = PlayedNews(clock, looks=10**9)
    rest.wait(news, lambda: True)
    assert news.looks == 10**9
    rest.end()
    assert (rest.is_on, rest.is_due) == (False, False)


def test_a_query_begins_with_the_tables_as_others_have_left_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a rest of hours their log may not have what the job knows of them any more: no position can be read."""
    monkeypatch.setattr(stream_job, "end_callbacks", Mock())
    job = CoverageJob("http://127.0.0.1:1/v1/streams/readings", tmp_path)
    job._spark, job._tables = Mock(), Mock()
    job._tables.refresh.side_effect = TableError("it was taken away")
    with pytest.raises(TableError):
        job._begin_query(Mock())
    job._tables.begun.assert_not_called()
