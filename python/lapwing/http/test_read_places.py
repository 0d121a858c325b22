"""Does one identity leave reads to the others?"""

from __future__ import annotations

from contextlib import ExitStack
from typing import cast

import pytest

from lapwing.config import HttpSection
from lapwing.http.authority import Authority
from lapwing.http.caller import Caller, Standing
from lapwing.http.counters import HttpCounters
from lapwing.http.read_places import ReadPlaces
from lapwing.http_listener.http_error import HttpError


def caller(name: str | None, standing: Standing = Standing.RULED) -> Caller:
    return Caller(name, standing, cast(Authority, None))


def places(counters: HttpCounters) -> ReadPlaces:
    return ReadPlaces(HttpSection(reads_max=4, reads_per_identity_max=3), counters, lambda: True)


def test_the_last_reads_are_somebody_elses() -> None:
    counters = HttpCounters()
    reads = places(counters)
    for name in ("spark", None):
        with ExitStack() as held:
            for _ in range(3):
                held.enter_context(reads.hold(caller(name)))
            with pytest.raises(HttpError, match="3 stream reads of this identity") as own, reads.hold(caller(name)):
                pass
            assert (own.value.status, own.value.body["reads_per_identity_max"]) == (503, 3)
            held.enter_context(reads.hold(caller("another")))
            with pytest.raises(HttpError, match="4 stream reads are running"), reads.hold(caller("third")):
                pass
        assert not reads._held
    assert "lapwing_http_reads_refused_total 4\n" in counters.text()


def test_where_nobody_has_a_name_all_are_anybodys() -> None:
    reads, anybody = places(HttpCounters()), caller(None, Standing.OPEN)
    with ExitStack() as held:
        for _ in range(4):
            held.enter_context(reads.hold(anybody))
